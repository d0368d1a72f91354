import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

const root = join(__dirname, '..', '..', '..');

/** All that workflow code may bring with it, however indirectly. The SDK's own needs, and nothing of ours but three modules. */
const MODULES = ['contracts', 'domain', 'workflows'];
const SDK_PACKAGES = ['@temporalio/common', '@temporalio/workflow', 'long', 'ms', 'nexus-rpc'];

/** The files behind a bundle, as the source map inside it names them. */
async function filesBehind(folder: string): Promise<string[]> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(folder, 'index.ts'),
    workflowInterceptorModules: [join(folder, 'interceptors.ts')],
    logger: new DefaultLogger('ERROR'),
  });
  const [, map = ''] = /sourceMappingURL=data:application\/json;[^,]*base64,([\w+/=]+)/.exec(code) ?? [];
  const { sources } = JSON.parse(Buffer.from(map, 'base64').toString()) as { sources: string[] };
  return sources;
}

function packagesIn(files: readonly string[]): string[] {
  return [...new Set(files.flatMap((file) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []))].sort();
}

function modulesIn(files: readonly string[]): string[] {
  const own = files.filter((file) => !file.includes('node_modules'));
  return [...new Set(own.flatMap((file) => /\/src\/([^/]+)/.exec(file)?.[1] ?? []))].sort();
}

describe('the whole graph behind the workflows', () => {
  let files: string[];
  beforeAll(async () => void (files = await filesBehind(join(root, 'src', 'workflows'))));

  test('has nothing of ours but workflows, contracts and domain: no activity, no partner, no configuration', () => {
    expect(modulesIn(files)).toEqual(MODULES);
  });

  test('has no package but those of the SDK: no zod or OpenTelemetry, which would make every worker start slower, and no undici', () => {
    expect(packagesIn(files)).toEqual(SDK_PACKAGES);
  });
});

/** What a module could keep from one workflow to the next: a variable, or a collection that is not read-only. */
const STATE = /^(export )?(let|var) .*|^(export )?const (?!.*: Readonly).*= (new |\[\]|\{\};).*/gm;

test('no module keeps anything that one workflow could leave behind for another: a worker loads each of them once for all', () => {
  const kept = MODULES.flatMap((module) => {
    const folder = join(root, 'src', module);
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
    return files.flatMap((name) => readFileSync(join(folder, name), 'utf8').match(STATE) ?? []);
  });
  expect(kept).toEqual([]);
});
