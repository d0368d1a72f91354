import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

const root = join(__dirname, '..', '..', '..');

/** Everything that workflow code may import, directly or not: three modules of this project and what the SDK needs. */
const MODULES = ['contracts', 'domain', 'workflows'];
const SDK_PACKAGES = ['@temporalio/common', '@temporalio/workflow', 'long', 'ms', 'nexus-rpc'];

/** The files in a bundle, according to its source map. */
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

describe('the import graph of the workflows', () => {
  let files: string[];
  beforeAll(async () => void (files = await filesBehind(join(root, 'src', 'workflows'))));

  test('contains only the modules workflows, contracts and domain: no activities, no partner, no configuration', () => {
    expect(modulesIn(files)).toEqual(MODULES);
  });

  test('contains only packages of the SDK: no undici, and no zod or OpenTelemetry, which would slow down the start of a worker', () => {
    expect(packagesIn(files)).toEqual(SDK_PACKAGES);
  });
});

/** State that a module could carry from one workflow to the next: a variable, or a collection that is not read-only. */
const STATE = /^(export )?(let|var) .*|^(export )?const (?!.*: Readonly).*= (new |\[\]|\{\};).*/gm;

test('no module keeps state between workflows, because a worker loads each module only once', () => {
  const kept = MODULES.flatMap((module) => {
    const folder = join(root, 'src', module);
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
    return files.flatMap((name) => readFileSync(join(folder, name), 'utf8').match(STATE) ?? []);
  });
  expect(kept).toEqual([]);
});
