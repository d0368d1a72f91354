import { execFile, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { STATE_MEANINGS } from '../../../src/domain/purchase-state';
import { closeAtEnd, temporaryFolder } from '../../support/clean-up';
import { freePort } from '../../support/free-port';
import { startReadyWorker, workerEnvOf } from '../../support/processes';
import { TEST_SIGNING_SECRET } from '../../support/settings';
import { sharedEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';

const ROOT = join(__dirname, '../../..');
const NAME = 'durable-fulfilment-checkout';
const LEVENSHTEIN = 'dist/licenses/fastest-levenshtein.txt';
const run = promisify(execFile);

interface Manifest {
  version: string;
  dependencies?: Record<string, string>;
  peerDependencies: Record<string, string>;
}

function manifestIn(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

/** Built and packed by the command that users run, although Node prints a warning. @returns the archive */
async function packPackage(): Promise<string> {
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: '/missing' };
  const options = { cwd: ROOT, env, timeout: 50_000 };
  const { stdout } = await run(process.execPath, ['scripts/run.mjs', 'pack-checkout'], options);
  return stdout.trim().split('\n').at(-1) ?? '';
}

/**
 * An empty project with the packed package in it. What docs/checkout.md installs besides is linked to the packages
 * that this project has, so that no network is needed.
 */
async function installInto(project: string, archive: string, client: string): Promise<string> {
  const installed = join(project, 'node_modules', NAME);
  mkdirSync(installed, { recursive: true });
  await run('tar', ['-xzf', archive, '--strip-components=1', '-C', installed]);
  link(project, '@temporalio/client', client);
  for (const name of ['express', '@types/express', '@types/node']) link(project, name);
  writeFileSync(join(project, 'package.json'), JSON.stringify({ type: 'module' }));
  return installed;
}

function link(project: string, name: string, target = name): void {
  const path = join(project, 'node_modules', name);
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules', target), path);
}

/** A TypeScript program of docs/checkout.md. */
function program(name: string): string {
  const page = readFileSync(join(ROOT, 'docs/checkout.md'), 'utf8');
  const [, code] = new RegExp(`\`\`\`ts\n// ${name}\n([^]*?)\`\`\``).exec(page) ?? [];
  if (code === undefined) throw new Error(`docs/checkout.md shows no ${name}`);
  return code;
}

const OPTIONS = {
  target: 'ES2022',
  module: 'nodenext',
  strict: true,
  declaration: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  types: ['node'],
  outDir: 'out',
};

/** Compiles all programs of a project. @returns the faults */
async function compile(project: string, options: object = { skipLibCheck: true }): Promise<string> {
  const compilerOptions = { ...OPTIONS, ...options };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  return run(process.execPath, [tsc, '-p', project]).then(
    ({ stdout }) => stdout,
    ({ stdout }: { stdout: string }) => stdout,
  );
}

const packed = packPackage();

describe.each([
  ['the lowest client of the peer range', 'temporal-client-lowest'],
  ["this project's own client", '@temporalio/client'],
])('the package for checkouts, with %s', (_, client) => {
  const env = sharedEnvironment({ worker: false, sandbox: { agePerPollMs: 30_000 } });
  const project = temporaryFolder();
  let port: number;

  beforeAll(async () => {
    await installInto(project, await packed, client);
    port = await freePort();
    const purchase = program('purchase.ts')
      .replace('localhost:7233', env.address)
      .replace('createStarter(client)', `createStarter(client, { taskQueue: '${env.taskQueue}' })`)
      .replaceAll("'SHOP-1'", 'process.argv[2]!');
    const receive = program('receive.ts').replace('8088', String(port));
    writeFileSync(join(project, 'purchase.ts'), `${purchase}await client.connection.close();\n`);
    writeFileSync(join(project, 'receive.ts'), `${receive}process.on('SIGTERM', () => process.exit());\n`);
    for (const name of ['retry.ts', 'job-for.ts']) writeFileSync(join(project, name), program(name));
    writeFileSync(join(project, 'narrowing.ts'), NARROWING);
  });

  it('has a peer dependency whose range covers this client', () => {
    const { version } = manifestIn(join(ROOT, 'node_modules', client));
    expect(manifestIn(join(project, 'node_modules', NAME)).peerDependencies).toEqual({
      '@temporalio/client': '^1.13.0',
    });
    expect(version).toMatch(client === '@temporalio/client' ? /^1\.\d+\.\d+$/ : /^1\.13\.0$/);
  });

  it('compiles the programs in docs/checkout.md with strict settings, and has no errors in its own declarations', async () => {
    expect(await compile(project)).toBe('');
    const faults = await compile(project, { skipLibCheck: false });
    expect(faults.split('\n').filter((line) => line.includes(NAME))).toEqual([]);
  });

  it('repeats a start that got no response as docs/checkout.md says, but not one that was refused', async () => {
    await compile(project);
    const code = `
      import { InvalidPurchaseError } from '${NAME}';
      import { untilItResponds } from './out/retry.js';
      const answers = [new Error('Failed to connect before the deadline'), 'started'];
      const start = async () => {
        const answer = answers.shift() ?? new InvalidPurchaseError(['no items']);
        if (answer instanceof Error) throw answer;
        return answer;
      };
      console.log(await untilItResponds(start), (await untilItResponds(start).catch((error) => error)).name, answers.length);`;
    writeFileSync(join(project, 'repeat.mjs'), code);
    const { stdout } = await run(process.execPath, [join(project, 'repeat.mjs')], { timeout: 30_000 });
    expect(stdout).toBe('started InvalidPurchaseError 0\n');
  });

  it('buys and receives keys as docs/checkout.md says, and returns 401 for an unsigned request', async () => {
    await compile(project);
    const url = `http://127.0.0.1:${port}/events`;
    const receiver = spawn(process.execPath, [join(project, 'out', 'receive.js')], {
      env: { DELIVERY_SECRET: TEST_SIGNING_SECRET },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let printed = '';
    receiver.stdout.on('data', (text) => (printed += String(text)));
    const ended = new Promise((resolve) => receiver.once('exit', resolve));
    closeAtEnd(() => {
      receiver.kill('SIGKILL');
      return ended;
    });
    const post = () => fetch(url, { method: 'POST', body: '{}', headers: { connection: 'close' } });
    const unsigned = await waitUntil('receive.ts answers', () => post().catch(() => undefined));
    expect(unsigned.status).toBe(401);

    await startReadyWorker({ env: workerEnvOf(env, { DELIVERY_URL: url }) });
    const referenceId = env.reference();
    const bought = await run(process.execPath, [join(project, 'out', 'purchase.js'), referenceId], { timeout: 40_000 });
    expect(bought.stdout).toContain("outcome: 'DELIVERED'");
    // The commands find it, too: they need nothing but Temporal.
    const command = [join(ROOT, 'dist/starter.js'), 'status', referenceId, '--json'];
    const status = await run(process.execPath, command, {
      env: { PATH: process.env.PATH, TEMPORAL_ADDRESS: env.address },
    });
    expect(JSON.parse(status.stdout)).toMatchObject({
      referenceId,
      workflowStatus: 'COMPLETED',
      taskQueue: env.taskQueue,
    });
    expect(printed).toBe(`purchase.delivered ${referenceId}, keys: 1\n`);
  });
});

/** What the types let a receiver rely on. It only has to compile. */
const NARROWING = `
import {
  type AttentionKind, type FindingKind, type FulfilmentEvent, parseEvent, type PurchaseAbandoned, type PurchaseCancelled, type PurchaseFailed, type PurchaseInput,
  type PurchaseNotPlaced, type PurchaseOverdue, type PurchaseRejected, type PurchaseStatus,
} from '${NAME}';
const event: FulfilmentEvent = parseEvent('', new Headers(), ['a', 'b']);
if (event.type === 'purchase.attention' && event.data.kind === 'ORPHAN') event.data.details.advice satisfies string | undefined;
export const isKnown = (kind: FindingKind | AttentionKind): boolean => kind === 'STUCK' || kind === 'DELIVERED_KEYS_GONE';
switch (event.type) {
  case 'purchase.delivered':
    event.data.outcome satisfies 'DELIVERED';
    break;
  case 'purchase.held':
    event.data.decisions satisfies string[];
    break;
  default:
    [event.type, event.data.referenceId] satisfies string[];
}
for (const { productId, keys = [] } of event.data.lines ?? []) for (const key of keys) [productId, key.id] satisfies string[];
// @ts-expect-error no such event
if (event.type === 'purchase.sold') event;
export const dataOf = ({ data }: FulfilmentEvent) => data;
export const sale: PurchaseInput = { referenceId: 'SALE-1', items: [], maxDebit: undefined };
type WithoutKeys = PurchaseFailed | PurchaseRejected | PurchaseNotPlaced | PurchaseCancelled | PurchaseAbandoned;
export const outcomeOf = (event: WithoutKeys | PurchaseOverdue): 'OVERDUE' | string => event.data.outcome;
export const isWaiting = ({ state }: PurchaseStatus): boolean => state === 'STARTED' || state === 'HELD' || state === 'ENDED_WITHOUT_RESULT';
// @ts-expect-error no such state
export const isSold = ({ state }: PurchaseStatus): boolean => state === 'SOLD';
`;

describe('the packed package for checkouts', () => {
  const project = temporaryFolder();
  let installed: string;

  beforeAll(async () => void (installed = await installInto(project, await packed, '@temporalio/client')), 60_000);

  it('gives ES modules and CommonJS the same classes', async () => {
    const code = `
      import { createRequire } from 'node:module';
      import { createStarter, InvalidEventError, parseEvent } from '${NAME}';
      const required = createRequire(import.meta.url)('${NAME}');
      console.log(required.InvalidEventError === InvalidEventError, typeof createStarter, typeof parseEvent);`;
    writeFileSync(join(project, 'both.mjs'), code);
    expect((await run(process.execPath, [join(project, 'both.mjs')])).stdout).toBe('true function function\n');
  });

  it("needs Temporal's client and Node, and nothing else", () => {
    const code = readFileSync(join(installed, 'dist/index.js'), 'utf8');
    const needed = [...code.matchAll(/\brequire\("([^"]+)"\)/g)].map(([, name = '']) => name);
    expect(needed.filter((name) => !name.startsWith('node:'))).toEqual(['@temporalio/client']);
    expect(code).not.toContain('node_modules/@temporalio');
    expect(manifestIn(installed).dependencies).toBeUndefined();
    expect(code.length).toBeLessThan(1_000_000);
  });

  it('has the version, declarations and schemas of the project, and no files of the worker', () => {
    expect(manifestIn(installed).version).toBe(manifestIn(ROOT).version);
    const files = readdirSync(installed, { recursive: true, encoding: 'utf8' });
    const schemas = readdirSync(join(ROOT, 'docs/schemas')).map((name) => join('dist/schemas', name));
    expect(files).toEqual(
      expect.arrayContaining(['README.md', 'LICENSE', 'dist/licenses/zod.txt', LEVENSHTEIN, ...schemas]),
    );
    expect(files.filter((file) => /worker|workflow|\.map$|(?<!\.d)\.ts$/.test(file))).toEqual([]);
  });

  it('explains each outcome and state in its declarations', () => {
    const declared = readFileSync(join(installed, 'dist/types/domain/purchase-state.d.ts'), 'utf8');
    for (const [state, meaning] of Object.entries(STATE_MEANINGS)) expect(declared).toContain(`${state}: '${meaning}'`);
  });

  it('exports every function that it declares', async () => {
    const folder = join(installed, 'dist/types/starter');
    const texts = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));
    const declared = texts.flatMap((text) => [...text.matchAll(/declare function (\w+)/g)].map(([, name]) => name));
    writeFileSync(join(project, 'names.mjs'), `console.log(Object.keys(await import('${NAME}')).join());`);
    const { stdout } = await run(process.execPath, [join(project, 'names.mjs')]);
    expect(stdout.trim().split(',')).toEqual(expect.arrayContaining(declared));
    expect(declared).toContain('createStarter');
  });

  it('contains the same schemas as docs/schemas', () => {
    for (const name of readdirSync(join(ROOT, 'docs/schemas'))) {
      const packedSchema = readFileSync(join(installed, 'dist/schemas', name), 'utf8');
      expect(packedSchema).toBe(readFileSync(join(ROOT, 'docs/schemas', name), 'utf8'));
    }
  });
});

describe('the package of the whole project', () => {
  it('contains the built programs and their declarations, but no demo, sandbox, source or package for checkouts', async () => {
    const { stdout } = await run('npm', ['pack', '--dry-run', '--ignore-scripts', '--json'], { cwd: ROOT });
    const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
    const paths = files.map(({ path }) => path);
    const built = ['worker.js', 'workflow-bundle.js', 'starter.js', 'starter/index.d.ts'];
    expect(paths).toEqual(
      expect.arrayContaining(['README.md', 'LICENSE', 'CHANGELOG.md', ...built.map((name) => `dist/${name}`)]),
    );
    expect(paths.filter((path) => /^(src|test|scripts|checkout|dist\/(demo|sandbox))\b|\.map$/.test(path))).toEqual([]);
  });
});
