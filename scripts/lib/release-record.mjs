import { mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from './paths.mjs';

/**
 * The result of one run of a script.
 *
 * @typedef {{ startedAt: string, endedAt: string, exitCode: number, passed: number, failed: number, skipped: string[] }} PartResult
 *
 * @typedef {object} StepRecord
 * @property {number} wanted how many parts it has
 * @property {Record<string, PartResult>} parts by name; a part that was interrupted is missing
 * @property {string} [lacks] why the step could not run on this machine
 *
 * @typedef {{ commit: string, node: string, steps: Record<string, StepRecord> }} ReleaseRecord by step
 */

/** Ignored by Git: the records, and the output of each part. */
export const FOLDER = join(projectRoot, 'release-check');

/** @type {(commit: string) => Promise<ReleaseRecord>} */
export async function readRecord(commit) {
  const written = await readFile(join(FOLDER, `${commit}.json`), 'utf8').catch(() => undefined);
  return written ? JSON.parse(written) : { commit, node: process.versions.node, steps: {} };
}

/** @type {() => Promise<ReleaseRecord | undefined>} the record that was written last */
export async function readNewestRecord() {
  const files = (await readdir(FOLDER).catch(() => [])).filter((file) => file.endsWith('.json'));
  const times = await Promise.all(files.map(async (file) => (await stat(join(FOLDER, file))).mtimeMs));
  const newest = files[times.indexOf(Math.max(...times))];
  return newest ? readRecord(newest.replace('.json', '')) : undefined;
}

/** A reader never sees half a record. @type {(record: ReleaseRecord) => Promise<void>} */
export async function writeRecord(record) {
  const path = join(FOLDER, `${record.commit}.json`);
  await mkdir(FOLDER, { recursive: true });
  await writeFile(`${path}.next`, `${JSON.stringify(record, undefined, 2)}\n`);
  await rename(`${path}.next`, path);
}

/**
 * Whatever a script counted: an exit code other than 0 is a failure, and so is a run that counted nothing. Only Jest
 * exits with 1 when this machine lacks something that all tests of a run need.
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
 * @type {(record: ReleaseRecord, names: readonly string[]) => string}
 */
export function tableOf({ steps }, names) {
  const head = ['suite', 'started, UTC', 'ended, UTC', 'passed', 'failed', 'skipped, and why'];
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

/** @type {(time?: string) => string} such as `2026-11-23 20:52` */
function minutes(time = '') {
  return time.slice(0, 16).replace('T', ' ');
}
