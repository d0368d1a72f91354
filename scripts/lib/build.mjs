import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { withLock } from './lock.mjs';
import { lockFile, projectRoot } from './places.mjs';
import { step } from './progress.mjs';
import { run } from './run.mjs';
import { toolPath } from './tools.mjs';

const dist = join(projectRoot, 'dist');
const STAMP = '.built-from';

/** Everything that the build is made of. */
const SOURCES = ['src', 'types', 'scripts/lib/build.mjs', 'tsconfig.json', 'package-lock.json'];

/** Builds unless `dist/` was built from just these sources. */
export async function ensureBuild() {
  if (isFresh()) return;
  await locked(async () => {
    if (!isFresh()) await buildAll();
  });
}

/** Builds `dist/` from nothing: types, JavaScript, the workflow bundle. */
export async function build() {
  await locked(buildAll);
}

/** @param {() => Promise<void>} work */
function locked(work) {
  return withLock(lockFile('build', projectRoot), 'the build', work);
}

async function buildAll() {
  const builtFrom = hashSources();
  // Beside the old one, which stays in use until the new one is whole: a type error takes nothing away.
  const next = `${dist}.next`;
  await step('Build', async (detail) => {
    await rm(next, { recursive: true, force: true });
    detail('types and JavaScript');
    const tsc = [toolPath('typescript', 'tsc'), '-p', 'tsconfig.json', '--outDir', next];
    await run(process.execPath, tsc, { cwd: projectRoot });
    detail('workflow bundle');
    await bundleWorkflows(next);
    await writeFile(join(next, STAMP), builtFrom);
    await rm(dist, { recursive: true, force: true });
    await rename(next, dist);
  });
}

/**
 * Bundled here once, so that a worker starts without webpack and every worker runs the same code.
 *
 * @param {string} folder the compiled code, and where the bundle goes
 */
async function bundleWorkflows(folder) {
  // Not imported on top: this file is loaded before the packages are installed.
  const { bundleWorkflowCode, DefaultLogger } = createRequire(join(projectRoot, 'package.json'))('@temporalio/worker');
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(folder, 'workflows', 'index.js'),
    logger: new DefaultLogger('WARN'),
  });
  await writeFile(join(folder, 'workflow-bundle.js'), code);
}

function isFresh() {
  const stamp = join(dist, STAMP);
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === hashSources();
}

function hashSources() {
  const hash = createHash('sha256');
  for (const file of SOURCES.flatMap((path) => filesIn(join(projectRoot, path)))) {
    hash
      .update(`${relative(projectRoot, file)}\0`)
      .update(readFileSync(file))
      .update('\0');
  }
  return hash.digest('hex');
}

/**
 * @param {string} path a file or a folder
 * @returns {string[]} in an order that is the same on every machine
 */
function filesIn(path) {
  if (!existsSync(path)) return [];
  const entries = listFolder(path);
  if (!entries) return [path];
  return entries.sort().flatMap((name) => filesIn(join(path, name)));
}

/** @param {string} path */
function listFolder(path) {
  try {
    return readdirSync(path);
  } catch {
    return undefined;
  }
}
