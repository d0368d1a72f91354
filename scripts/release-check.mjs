import { mkdir, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runInForeground, SIGNALS } from './lib/foreground.mjs';
import { log } from './lib/log.mjs';
import { projectRoot } from './lib/paths.mjs';
import {
  currentCode,
  failuresIn,
  hasPassed,
  readRecord,
  stateOf,
  tableOf,
  writeRecord,
} from './lib/release-record.mjs';
import { STEPS } from './lib/release-steps.mjs';

/**
 * `npm run release:check`: runs every suite on the same code. It can be interrupted: the next run skips what has passed
 * on this code and this version of Node. It writes the results to docs/release-check.json, and a table of them to
 * docs/performance.md.
 *
 *     --only NAME    only this suite
 */
const text = /** @type {const} */ ({ type: 'string' });
const { only } = parseArgs({ options: { only: text } }).values;
const names = STEPS.map(({ name }) => name);
if (only !== undefined && !names.includes(only)) throw new Error(`--only needs one of ${names.join(', ')}`);

/** Ignored by Git: the output of each part. */
const LOGS = join(projectRoot, 'release-check');
const LAST_LINES = 15;
const LONGEST_REASON = 200;

const begunAt = performance.now();
let stopped = 0;
SIGNALS.forEach((signal, index) => process.on(signal, () => (stopped = [130, 143, 129][index] ?? 1)));

process.exitCode = await check();

/** @returns {Promise<number>} the exit code: 1 if a suite has failed or is unfinished */
async function check() {
  const record = await recordOf(await currentCode());
  const steps = STEPS.filter(({ name }) => only === undefined || name === only);
  for (const step of steps) {
    await runStep(step, record);
    if (stopped) {
      log('Interrupted. Run the same command on the same code to continue from here.');
      return stopped;
    }
  }
  process.stdout.write(`\nCommit ${record.commit}\n\n${tableOf(record.steps, names)}\n`);
  return steps.every(({ name }) => ['passed', 'skipped'].includes(stateOf(record.steps[name]))) ? 0 : 1;
}

/** @type {(now: { code: string, commit: string }) => Promise<import('./lib/release-record.mjs').ReleaseRecord>} */
async function recordOf(now) {
  const [record, node] = [await readRecord(), process.versions.node];
  return record?.code === now.code && record.node === node ? record : { ...now, node, steps: {} };
}

/** @type {(step: import('./lib/release-steps.mjs').Step, record: import('./lib/release-record.mjs').ReleaseRecord) => Promise<void>} */
async function runStep(step, record) {
  const lacks = await step.needs?.().then(
    () => undefined,
    (error) => String(error.message).replaceAll(/\s+/g, ' ').slice(0, LONGEST_REASON),
  );
  const parts = await step.parts();
  const before = record.steps[step.name]?.parts ?? {};
  const kept = (record.steps[step.name] = { wanted: parts.length, parts: before, lacks });
  await writeRecord(record, names);
  if (lacks) return log(`${step.name}: skipped: ${lacks}`);
  for (const [index, part] of parts.entries()) {
    const title = parts.length === 1 ? step.name : `${step.name} ${index + 1}/${parts.length} (${part.name})`;
    if (hasPassed(kept.parts[part.name])) {
      log(`${title}: passed before`);
      continue;
    }
    const result = await runPart(step, part, title);
    if (stopped) return;
    // Otherwise these would be the results of other code.
    if ((await currentCode()).code !== record.code)
      throw new Error('The code has changed. Check out the tested code, and run this again.');
    kept.parts[part.name] = result;
    await writeRecord(record, names);
  }
}

/**
 * @type {(step: import('./lib/release-steps.mjs').Step, part: import('./lib/release-steps.mjs').Part, title: string) =>
 *   Promise<import('./lib/release-record.mjs').PartResult>}
 */
async function runPart(step, part, title) {
  const [startedAt, partBegunAt] = [new Date().toISOString(), performance.now()];
  log(`${title} …`);
  await mkdir(LOGS, { recursive: true });
  const path = join(LOGS, `${step.name}-${part.name.replaceAll(/\W+/g, '-')}.log`);
  const file = await open(path, 'w');
  const command = [join(projectRoot, 'scripts/run.mjs'), step.script, ...part.args];
  /** @type {import('node:child_process').SpawnOptions} */
  const options = { cwd: projectRoot, stdio: ['ignore', file.fd, file.fd] };
  const exitCode = await runInForeground(process.execPath, command, options);
  await file.close();
  const output = (await readFile(path, 'utf8')).replaceAll('\r', '\n');
  const counts = step.read(output, part);
  const failed = failuresIn(counts, exitCode);
  const result = { startedAt, endedAt: new Date().toISOString(), exitCode, ...counts, failed };
  if (stopped) return result;
  const took = `${duration(performance.now() - partBegunAt)}, ${duration(performance.now() - begunAt)} in all`;
  log(`${title}: ${counts.passed} passed, ${failed} failed, ${counts.skipped.length} skipped (${took})`);
  if (!hasPassed(result)) {
    log(`${output.trimEnd().split('\n').slice(-LAST_LINES).join('\n')}\nFull output: ${path}`);
  }
  return result;
}

/** @type {(ms: number) => string} such as `1 h 4 min` or `12 s` */
function duration(ms) {
  const [seconds, minutes] = [Math.round(ms / 1_000), Math.round(ms / 60_000)];
  if (minutes >= 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return minutes >= 3 ? `${minutes} min` : `${seconds} s`;
}
