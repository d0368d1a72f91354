import { existsSync, statSync } from 'node:fs';
import { chmod, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { withLock } from './lock.mjs';
import { step } from './log.mjs';
import { projectRoot } from './paths.mjs';
import { run } from './run.mjs';

const dist = join(projectRoot, 'dist');
const workflowBundle = join(dist, 'workflow-bundle.js');
/** The compiler's record of its last run, written only if something has changed. */
const buildInfo = join(dist, '.tsbuildinfo');

/** Updates `dist/` from the sources, or builds everything with `anew`. A type error leaves the previous build intact. */
export function ensureBuild({ anew = false } = {}) {
  return withLock(`${projectRoot} build`, 'the build', () => step('Build', () => compileAndBundle(anew)));
}

/**
 * Compiles programs that are not part of the product, such as `sandbox` and `demo`, each into its own `dist/`.
 *
 * @param {...string} folders
 */
export async function compilePrograms(...folders) {
  for (const folder of folders) await run('tsc', ['-p', folder]);
}

async function compileAndBundle(anew = false) {
  if (anew) await rm(buildInfo, { force: true });
  await run('tsc', ['-p', 'tsconfig.json', '--incremental', '--tsBuildInfoFile', buildInfo, '--noEmitOnError']);
  for (const file of await readdir(dist, { recursive: true })) {
    // The compiler does not remove the output of deleted sources.
    const source = join(projectRoot, 'src', file.replace(/\.(js|js\.map|d\.ts)$/, '.ts'));
    const isCompiled = /\.(js|map|ts)$/.test(file) && join(dist, file) !== workflowBundle;
    if (isCompiled && !existsSync(source)) await rm(join(dist, file));
  }
  await makeCommandsExecutable();
  const sources = [buildInfo, join(projectRoot, 'node_modules/.package-lock.json')];
  if (existsSync(workflowBundle) && sources.every((file) => statSync(file).mtimeMs < statSync(workflowBundle).mtimeMs))
    return;
  await bundleWorkflows();
}

/** The compiler writes files without execute permission, so `npx fulfilment` would fail. */
async function makeCommandsExecutable() {
  const { bin } = JSON.parse(await readFile(join(projectRoot, 'package.json'), 'utf8'));
  for (const script of Object.values(bin)) await chmod(join(projectRoot, script), 0o755);
}

async function bundleWorkflows() {
  // One bundle for all workers: they start without webpack, and all run the same code.
  const workflowsPath = join(dist, 'workflows/index.js');
  const payloadConverterPath = join(dist, 'contracts/payload-converter.js');
  // Preloaded modules run once per worker, not once per workflow. None of them has state (workflow-bundle.test.ts).
  const logger = new DefaultLogger('WARN');
  const { code } = await bundleWorkflowCode({
    workflowsPath,
    payloadConverterPath,
    workflowInterceptorModules: [join(dist, 'workflows/interceptors.js')],
    preloadModules: [workflowsPath, payloadConverterPath],
    logger,
  });
  // Written last, because its modification time shows that the build is complete.
  await writeFile(`${workflowBundle}.next`, code);
  await rename(`${workflowBundle}.next`, workflowBundle);
}
