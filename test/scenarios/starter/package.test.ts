import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '../../support/clean-up';
import { sharedEnvironment } from '../../support/test-environment';

const ROOT = join(__dirname, '../../..');
const run = promisify(execFile);

interface Manifest {
  name: string;
  dependencies: Record<string, string>;
}

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;

/**
 * An empty TypeScript project with the packed package in it. Of its dependencies, the installed ones are linked, so that no
 * network is needed; the project itself sees what docs/checkout.md installs, and Node's types.
 */
async function installPackage(): Promise<string> {
  const project = temporaryFolder();
  const installed = join(project, 'node_modules', manifest.name);
  mkdirSync(installed, { recursive: true });
  const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', project], {
    cwd: ROOT,
  });
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  await run('tar', ['-xzf', join(project, filename), '--strip-components=1', '-C', installed]);
  for (const name of Object.keys(manifest.dependencies)) link(installed, name);
  for (const name of ['@temporalio/client', 'standardwebhooks', '@types/node']) link(project, name);
  return project;
}

function link(folder: string, name: string): void {
  const path = join(folder, 'node_modules', name);
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules', name), path);
}

/** A TypeScript program of docs/checkout.md. */
function program(name: string): string {
  const page = readFileSync(join(ROOT, 'docs/checkout.md'), 'utf8');
  const [, code] = new RegExp(`\`\`\`ts\n// ${name}\n([^]*?)\`\`\``).exec(page) ?? [];
  if (code === undefined) throw new Error(`docs/checkout.md shows no ${name}`);
  return code;
}

const OPTIONS = { target: 'ES2022', module: 'nodenext', strict: true, types: ['node'], outDir: 'out' };

describe('the package, packed and installed into an empty TypeScript project', () => {
  const env = sharedEnvironment({ worker: false });
  let referenceId: string;
  let project: string;

  beforeAll(async () => {
    project = await installPackage();
    referenceId = env.reference('package');
    const code = program('purchase.ts').replace('localhost:7233', env.address).replaceAll('SALE-1', referenceId);
    writeFileSync(join(project, 'package.json'), JSON.stringify({ type: 'module' }));
    writeFileSync(join(project, 'checkout.ts'), `${code}await client.connection.close();\n`);
    writeFileSync(join(project, 'receive.ts'), program('receive.ts'));
  });
  afterAll(() => env.handleOf(referenceId).terminate('the test is over'));

  const compile = async (options: object): Promise<string> => {
    const compilerOptions = { ...OPTIONS, ...options };
    writeFileSync(
      join(project, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, files: ['checkout.ts', 'receive.ts'] }),
    );
    const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
    return run(process.execPath, [tsc, '-p', project]).then(
      ({ stdout }) => stdout,
      ({ stdout }: { stdout: string }) => stdout,
    );
  };

  it('compiles the programs of docs/checkout.md with strict settings, and no declaration of ours has a fault', async () => {
    expect(await compile({ skipLibCheck: true })).toBe('');
    const faults = await compile({ skipLibCheck: false });
    expect(faults.split('\n').filter((line) => line.includes(manifest.name))).toEqual([]);
  });

  it('starts a purchase with it, which the installed command finds: only with Temporal, without any setting of ours', async () => {
    await compile({ skipLibCheck: true });
    await run(process.execPath, [join(project, 'out', 'checkout.js')]);

    const command = join(project, 'node_modules', manifest.name, 'dist', 'starter.js');
    const { stdout } = await run(process.execPath, [command, 'status', referenceId, '--json'], {
      env: { PATH: process.env.PATH, TEMPORAL_ADDRESS: env.address },
    });
    expect(JSON.parse(stdout)).toMatchObject({ referenceId, execution: 'RUNNING', taskQueue: 'fulfilment' });
  });

  it('holds what runs and its declarations: no demo, no sandbox, no source', () => {
    const installed = join(project, 'node_modules', manifest.name);
    const files = readdirSync(installed, { recursive: true, encoding: 'utf8' });
    const own = files.filter((file) => !file.startsWith('node_modules'));
    const built = ['worker.js', 'workflow-bundle.js'];
    const wanted = ['README.md', 'LICENSE', 'CHANGELOG.md', ...built.map((name) => join('dist', name))];
    expect(own).toEqual(expect.arrayContaining(wanted));
    expect(own.filter((file) => /^(src|test|scripts|dist\/(demo|sandbox))\b|\.map$/.test(file))).toEqual([]);
  });
});
