import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from './lib/find-tool.mjs';
import { runInForeground } from './lib/foreground.mjs';
import { summarise } from './lib/jest-summary.mjs';
import { runMain } from './lib/main.mjs';
import { ensureBuild, ensureDependencies, ensureTemporalCli, ensureTestServer } from './lib/prepare.mjs';
import { toolPath } from './lib/tools.mjs';

/** A Jest that has written its report has only to end. One that does not has left something open, and never will. */
const MAY_LINGER_MS = 60_000;

await runMain(async () => {
  const { lines, ok } = await prepareAndRun().catch((error) => ({
    lines: [messageOf(error), '0 passed, 1 failed'],
    ok: false,
  }));
  process.stdout.write(`${lines.join('\n')}\n`);
  return ok ? 0 : 1;
});

async function prepareAndRun() {
  await ensureDependencies();
  const env = { TEMPORAL_CLI: await ensureTemporalCli(), TEMPORAL_TEST_SERVER: await ensureTestServer() };
  await ensureBuild();
  return runJest(process.argv.slice(2), env);
}

/**
 * @param {string[]} args passed on to Jest
 * @param {Record<string, string>} env
 */
async function runJest(args, env) {
  const folder = await mkdtemp(join(tmpdir(), 'fulfilment-test-'));
  const report = join(folder, 'report.json');
  try {
    const jest = [toolPath('jest'), '--json', `--outputFile=${report}`, `--maxWorkers=${workers()}`, ...args];
    const code = await runInForeground(process.execPath, jest, {
      env,
      endsSoonAfter: report,
      mayLingerMs: MAY_LINGER_MS,
    });
    const results = await readFile(report, 'utf8').then(JSON.parse, () => undefined);
    return summarise(results, code, args);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Most tests wait for a server rather than compute, so two at a time pay even on one core; more than four crowd it. */
function workers() {
  return Math.min(4, Math.max(2, availableParallelism()));
}
