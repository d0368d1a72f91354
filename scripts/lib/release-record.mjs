import { createHash } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withPart } from './generated-part.mjs';
import { projectRoot } from './paths.mjs';
import { run } from './run.mjs';

/**
 * The result of one run of a script.
 *
 * @typedef {{ startedAt: string, endedAt: string, exitCode: number, passed: number, failed: number, skipped: string[] }} PartResult
 *
 * @typedef {object} StepRecord
 * @property {number} wanted how many parts it has
 * @property {Record<string, PartResult>} parts by name; a part that was interrupted is missing
 * @property {string} [lacks] the reason that the step could not run on this machine
 *
 * @typedef {object} ReleaseRecord
 * @property {string} code identifies what is tested: see `currentCode`
 * @property {string} commit the first commit with this code
 * @property {string} node the version of Node
 * @property {Record<string, StepRecord>} steps by name
 */

/** Committed, so that the check can continue on another machine or another day. */
const FILE = join(projectRoot, 'docs/release-check.json');
const PAGE = join(projectRoot, 'docs/performance.md');
/** Documents and results. A commit that changes nothing else keeps the results; CI tests these files on every commit. */
const UNTESTED = /^(docs|bench\/results)\/|\.md$/;
const SHOWN_FILES = 15;

/**
 * Identifies what the suites test: all files of the commit except documents and results.
 *
 * @returns {Promise<{ code: string, commit: string }>}
 * @throws Error if the working tree differs from the commit
 */
export async function currentCode() {
  const status = await git('status', '--porcelain', '--untracked-files=all', '--no-renames', '-z');
  const changed = status.split('\0').filter((line) => line && !UNTESTED.test(line.slice(3)));
  if (changed.length > 0) {
    const shown = changed.slice(0, SHOWN_FILES).join('\n');
    throw new Error(`These files differ from the commit. Commit or stash them, and run this again:\n${shown}`);
  }
  const files = (await git('ls-tree', '-r', '-z', 'HEAD')).split('\0');
  const tested = files.filter((line) => !UNTESTED.test(line.slice(line.indexOf('\t') + 1)));
  const code = createHash('sha256').update(tested.join('\n')).digest('hex').slice(0, 12);
  return { code, commit: (await git('rev-parse', '--short=12', 'HEAD')).trim() };
}

/** @type {(...args: string[]) => Promise<string>} */
function git(...args) {
  return run('git', args, { cwd: projectRoot, stdoutOnly: true });
}

/** @type {() => Promise<ReleaseRecord | undefined>} the latest record, whatever its code */
export async function readRecord() {
  const written = await readFile(FILE, 'utf8').catch(() => undefined);
  return written ? JSON.parse(written) : undefined;
}

/**
 * Writes the record, and its table into docs/performance.md.
 *
 * @type {(record: ReleaseRecord, names: readonly string[]) => Promise<void>}
 */
export async function writeRecord(record, names) {
  const { code, commit, node, steps } = record;
  const table = `${tableOf(steps, names)}\n\nCommit ${commit}, Node ${node}, code \`${code}\`.`;
  await replace(PAGE, withPart(await readFile(PAGE, 'utf8'), 'release check', table));
  await replace(FILE, `${JSON.stringify(record, undefined, 2)}\n`);
}

/** A reader never sees half a file. @type {(path: string, text: string) => Promise<void>} */
async function replace(path, text) {
  await writeFile(`${path}.next`, text);
  await rename(`${path}.next`, path);
}

/**
 * Whatever a script counted, an exit code other than 0 is a failure, and so is a run that counted nothing. The exception
 * is Jest, which exits with 1 if this machine lacks something that all tests of a run need.
 *
 * @type {(counts: import('./release-steps.mjs').Counts, exitCode: number) => number}
 */
export function failuresIn({ passed, failed, skipped }, exitCode) {
  const isSkipped = passed === 0 && failed === 0 && skipped.length > 0;
  const isWrong = isSkipped ? exitCode > 1 : exitCode !== 0 || passed === 0;
  return Math.max(failed, isWrong ? 1 : 0);
}

/** @type {(result: PartResult | undefined) => boolean} */
export function hasPassed(result) {
  return result?.failed === 0;
}

/** @type {(record: StepRecord | undefined) => 'passed' | 'failed' | 'skipped' | 'unfinished'} */
export function stateOf(record) {
  if (record?.lacks) return 'skipped';
  const results = Object.values(record?.parts ?? {});
  if (!results.every(hasPassed)) return 'failed';
  return record && results.length === record.wanted ? 'passed' : 'unfinished';
}

/**
 * A row for each step, in Markdown that also reads well on a terminal.
 *
 * @type {(steps: ReleaseRecord['steps'], names: readonly string[]) => string}
 */
export function tableOf(steps, names) {
  const head = ['suite', 'started, UTC', 'ended, UTC', 'passed', 'failed', 'skipped, reason'];
  const rows = [head, ...names.map((name) => rowOf(name, steps[name]))];
  const widths = head.map((_, column) => Math.max(...rows.map((row) => String(row[column]).length)));
  const lines = rows.map((row) => `| ${row.map((cell, column) => cell.padEnd(Number(widths[column]))).join(' | ')} |`);
  lines.splice(1, 0, `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`);
  return lines.join('\n');
}

/** @type {(name: string, record: StepRecord | undefined) => string[]} */
function rowOf(name, record) {
  const results = Object.values(record?.parts ?? {});
  if (record?.lacks) return [name, '', '', '', '', `all: ${record.lacks}`];
  if (!record || results.length === 0) return [name, 'not run', '', '', '', ''];
  const [startedAt] = results.map((result) => result.startedAt).toSorted();
  const endedAt = results
    .map((result) => result.endedAt)
    .toSorted()
    .at(-1);
  const sum = (/** @type {'passed' | 'failed'} */ count) =>
    String(results.reduce((total, result) => total + result[count], 0));
  const isUnfinished = results.length < record.wanted;
  const ended = isUnfinished ? `${results.length} of ${record.wanted} parts so far` : minutes(endedAt);
  const failed = results.every(hasPassed) ? sum('failed') : `**${sum('failed')}**`;
  return [name, minutes(startedAt), ended, sum('passed'), failed, reasonsOf(results)];
}

/** @type {(results: PartResult[]) => string} such as `3: no Python here; no promtool here` */
function reasonsOf(results) {
  const skipped = results.flatMap((result) => result.skipped);
  return skipped.length === 0 ? '0' : `${skipped.length}: ${[...new Set(skipped)].join('; ')}`;
}

/** @type {(time?: string) => string} such as `2026-11-23T20:52` */
function minutes(time = '') {
  return time.slice(0, 16);
}
