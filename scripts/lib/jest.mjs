import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { compilePrograms, ensureBuild } from './build.mjs';
import { runInForeground } from './foreground.mjs';
import { projectRoot } from './paths.mjs';
import { run } from './run.mjs';
import { ensureTemporalCli } from './temporal-cli.mjs';
import { ensureTestServer } from './test-server.mjs';

const JEST = createRequire(import.meta.url).resolve('jest/bin/jest');
/** They start no Temporal server. The check before an upgrade runs where the worker runs. */
const WITHOUT_SERVER = [join('test', 'unit', '/'), join('test', 'replay', 'open-workflows.ts')];

/**
 * Runs Jest with these arguments on a fresh build. The Temporal servers are prepared only if a test needs them.
 *
 * @param {readonly string[]} args
 * @param {readonly string[]} [files] the test files that `args` select
 * @returns {Promise<number>} its exit code
 * @throws Error if it ended before it had counted its tests
 */
export async function runJest(args, files) {
  const selected = files ?? (await testFiles(args));
  if (selected.every((file) => WITHOUT_SERVER.some((path) => file.startsWith(path)))) {
    delete process.env.TEMPORAL_CLI;
  } else {
    process.env.TEMPORAL_CLI = await ensureTemporalCli();
    process.env.TEMPORAL_TEST_SERVER = await ensureTestServer();
  }
  await ensureBuild();
  await compilePrograms('sandbox', 'demo');
  // Its reporter, closing-line.mjs, says when it has counted the tests.
  let counted = false;
  // It runs in its own process group, so that the servers that its tests start end with it.
  /** @type {import('node:child_process').SpawnOptions} */
  const options = { cwd: projectRoot, stdio: [0, 1, 2, 'ipc'], detached: process.platform !== 'win32' };
  const code = await runInForeground(process.execPath, [JEST, ...args], options, () => void (counted = true));
  if (!counted || code > 128) throw new Error(`Jest ended with exit code ${code} before it had counted the tests`);
  return code;
}

/**
 * @param {readonly string[]} args for Jest
 * @returns {Promise<string[]>} the test files that they select, from the project's root; none if Jest rejects `args`
 */
export async function testFiles(args) {
  // With `--outputFile`, Jest would write the list to that file.
  const at = args.indexOf('--outputFile');
  const selection = (at < 0 ? args : args.toSpliced(at, 2)).filter((argument) => argument !== '--json');
  const list = [JEST, '--listTests', '--json', ...selection];
  const listed = await run(process.execPath, list, { stdoutOnly: true }).catch(() => '[]');
  return JSON.parse(listed).map((/** @type {string} */ file) => relative(projectRoot, file));
}
