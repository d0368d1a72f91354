import { existsSync, statSync } from 'node:fs';
import { readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { withLock } from './lock.mjs';
import { step } from './log.mjs';
import { lockPath, projectRoot } from './paths.mjs';
import { run } from './run.mjs';

const dist = join(projectRoot, 'dist');
const buildInfo = join(dist, '.tsbuildinfo');
const bundle = join(dist, 'workflow-bundle.js');

/**
 * Brings `dist/` up to the sources: types and JavaScript by the compiler, which knows what has changed since the last time,
 * then the workflow bundle. A type error leaves what was built before.
 */
export function ensureBuild() {
  return withLock(lockPath('build', projectRoot), 'the build', () =>
    step('Build', async (detail) => {
      detail('types and JavaScript');
      const incremental = ['--incremental', '--tsBuildInfoFile', buildInfo, '--noEmitOnError'];
      await run('tsc', ['-p', 'tsconfig.json', ...incremental]);
      await removeOrphans();
      if (isBundled()) return;
      detail('workflow bundle');
      await bundleWorkflows();
    }),
  );
}

/** Builds everything anew, whatever is there already. */
export async function build() {
  await rm(buildInfo, { force: true });
  await ensureBuild();
}

/** The compiler leaves what it made of a source that is gone. */
async function removeOrphans() {
  for (const file of await readdir(dist, { recursive: true })) {
    const source = /^(.+)\.(js|js\.map|d\.ts)$/.exec(file)?.[1];
    const isOrphan = source && !existsSync(join(projectRoot, 'src', `${source}.ts`));
    if (isOrphan && join(dist, file) !== bundle) await rm(join(dist, file));
  }
}

/** The compiler touches its notes only when it has changed something; npm, whenever it has installed something. */
function isBundled() {
  const newest = [buildInfo, join(projectRoot, 'node_modules/.package-lock.json')].map((file) => statSync(file).mtimeMs);
  return existsSync(bundle) && statSync(bundle).mtimeMs > Math.max(...newest);
}

/** Bundled here once, so that a worker starts without webpack and every worker runs the same code. */
async function bundleWorkflows() {
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(dist, 'workflows', 'index.js'),
    logger: new DefaultLogger('WARN'),
  });
  await writeFile(`${bundle}.next`, code);
  await rename(`${bundle}.next`, bundle);
}
