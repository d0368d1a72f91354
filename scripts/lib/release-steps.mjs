import { readdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { MUTANTS } from '../mutants/mutants.mjs';
import { compilePrograms } from './build.mjs';
import { ensureContainerEngine } from './container-engine.mjs';
import { projectRoot } from './paths.mjs';
import { ensurePostgreSql } from './postgresql.mjs';
import { ensureTemporalServer } from './temporal-server.mjs';

const DAYS = 1_000;
/** Small enough that an interruption wastes only minutes. */
const DAYS_AT_A_TIME = 50;
const MUTANTS_AT_A_TIME = 25;

/**
 * @typedef {{ passed: number, failed: number, skipped: string[] }} Counts `skipped` has the reasons
 * @typedef {{ name: string, args: string[] }} Part one run of the step's script
 *
 * @typedef {object} Step
 * @property {string} name
 * @property {string} script its file in `scripts`, without the ending
 * @property {() => Part[] | Promise<Part[]>} parts
 * @property {(output: string, part: Part) => Counts} read
 * @property {() => Promise<unknown>} [needs] if it throws, this machine lacks something, and the step is skipped
 */

/**
 * All suites, the quickest first.
 *
 * @type {Step[]}
 */
export const STEPS = [
  { name: 'verify', script: 'verify', parts: all, read: readChecks },
  { name: 'test', script: 'test', parts: all, read: readTests },
  { name: 'faults', script: 'faults', parts: matrixFiles, read: readTests },
  { name: 'compose', script: 'compose', parts: all, read: readTests, needs: ensureContainerEngine },
  { name: 'bench', script: 'bench', parts: scenarios, read: readScenario },
  { name: 'cluster', script: 'cluster', parts: clusterParts, read: readTests, needs: ensureCluster },
  { name: 'days', script: 'faults', parts: dayBlocks, read: readDays },
  { name: 'mutants', script: 'mutants', parts: mutantBlocks, read: readMutants },
];

function all() {
  return [{ name: 'all', args: [] }];
}

async function matrixFiles() {
  const files = await readdir(join(projectRoot, 'test/resilience/fault-matrix'));
  const names = files.filter((file) => file.endsWith('.faults.ts')).toSorted();
  return names.map((file) => ({ name: file.replace('.faults.ts', ''), args: ['--testPathPatterns', `/${file}$`] }));
}

async function scenarios() {
  await compilePrograms('bench');
  const { SCENARIOS } = createRequire(import.meta.url)('../../bench/dist/bench/scenarios.js');
  return SCENARIOS.map((/** @type {{ name: string }} */ { name }) => ({ name, args: ['--scenario', name] }));
}

/** What `npm run test:cluster` does without arguments. */
function clusterParts() {
  return [
    { name: 'suite', args: ['--suite'] },
    { name: 'days', args: ['--days', '20'] },
    { name: 'trials', args: ['--trials'] },
  ];
}

async function ensureCluster() {
  await ensureTemporalServer();
  await ensurePostgreSql();
}

export function dayBlocks(days = DAYS, size = DAYS_AT_A_TIME) {
  return Array.from({ length: Math.ceil(days / size) }, (_, block) => {
    const [from, count] = [block * size + 1, Math.min(size, days - block * size)];
    const args = ['--days', '--seeds', String(count), '--from', String(from)];
    return { name: `${from}-${from + count - 1}`, args };
  });
}

/** Mutants with the same tests are neighbours, because each run first runs its tests on the unchanged code. */
function mutantBlocks() {
  const names = MUTANTS.toSorted((one, other) => one.tests.join().localeCompare(other.tests.join())).map(
    ({ name }) => name,
  );
  return Array.from({ length: Math.ceil(names.length / MUTANTS_AT_A_TIME) }, (_, block) => {
    const args = names.slice(block * MUTANTS_AT_A_TIME, (block + 1) * MUTANTS_AT_A_TIME);
    return { name: `${args[0]} and ${args.length - 1} more`, args };
  });
}

/** @returns {Counts} */
export function readChecks(/** @type {string} */ output) {
  const [, passed, wanted] = /^(\d+) of (\d+) checks passed/m.exec(output) ?? [];
  return { passed: Number(passed ?? 0), failed: Number(wanted ?? 0) - Number(passed ?? 0), skipped: [] };
}

/**
 * Reads the closing line of each run of Jest.
 *
 * @returns {Counts}
 */
export function readTests(/** @type {string} */ output) {
  const lines = [...output.matchAll(/^(\d+) passed, (\d+) failed(?:, \d+ skipped)?$/gm)];
  const sum = (/** @type {1 | 2} */ group) => lines.reduce((total, line) => total + Number(line[group]), 0);
  // The reporter makes sure that the title of each skipped test ends with the reason.
  const skipped = [...output.matchAll(/^skipped: .*\[([^\]]+)\]$/gm)].map(([, reason]) => String(reason));
  return { passed: sum(1), failed: sum(2), skipped };
}

/** @returns {Counts} */
export function readMutants(/** @type {string} */ output) {
  const [, passed, failed] = /^(\d+) killed, (\d+) survived$/m.exec(output) ?? [];
  return { passed: Number(passed ?? 0), failed: Number(failed ?? 0), skipped: [] };
}

/**
 * One test runs all days of a block, and prints the command for each day that failed.
 *
 * @returns {Counts}
 */
export function readDays(/** @type {string} */ output, /** @type {Part} */ { args }) {
  const days = Number(args[args.indexOf('--seeds') + 1]);
  const failed = new Set([...output.matchAll(/^Seed (\d+) failed/gm)].map(([, seed]) => seed)).size;
  const { passed } = readTests(output);
  return { passed: passed > 0 ? days : Math.max(0, failed && days - failed), failed, skipped: [] };
}

/**
 * A missed goal is not a failure.
 *
 * @returns {Counts}
 */
export function readScenario(/** @type {string} */ output, /** @type {Part} */ { name }) {
  const failed = new RegExp(`^${name}: `, 'm').test(output);
  return { passed: !failed && output.includes('\n## ') ? 1 : 0, failed: failed ? 1 : 0, skipped: [] };
}
