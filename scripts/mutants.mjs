import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFECTS, MUTANTS } from './mutants/mutants.mjs';
import { log } from './lib/log.mjs';
import { projectRoot } from './lib/paths.mjs';
import { run } from './lib/run.mjs';
import { ensureTemporalCli } from './lib/temporal-cli.mjs';
import { ensureTestServer } from './lib/test-server.mjs';

/**
 * `npm run mutants [-- NAME …]`: breaks each safety rule on purpose in a copy of the project. The tests mapped to the
 * rule must fail. A mutant that survives, or that no longer matches the code, fails the run.
 *
 * With `--days`, the seeded bad days must find the worst defects instead. One or more mutants reintroduce each defect. The
 * plan of the first day that fails, out of 200, is shrunk. NAME may then be a defect or a mutant.
 */

/** The parts of the project that a mutant needs. The dependencies are shared. */
const COPIED = [
  'src',
  'sandbox',
  'demo',
  'test',
  'types',
  '.env.example',
  'docs/schemas',
  'scripts',
  'package.json',
  'package-lock.json',
  '.npmrc',
  'tsconfig.json',
  'tsconfig.test.json',
  'jest.config.js',
];
const BUILD_LIMIT_MS = 300_000;
/** The limit of the unchanged code, so that a slow machine can run it. */
const LIMIT_PER_FILE_MS = 900_000;
/** Many mutants make a test hang, so their limits are multiples of what the unchanged code took. */
const PATIENCE = 4;
/** Hooks count too, but Jest does not report how long they took. */
const LEAST_TEST_LIMIT_MS = 60_000;

const byDays = process.argv.includes('--days');
const DAYS_LIMIT_MS = 3 * 3_600_000;

const env = { TEMPORAL_CLI: await ensureTemporalCli(), TEMPORAL_TEST_SERVER: await ensureTestServer() };
const copy = await copyProject();
try {
  process.exitCode = await killAll();
} finally {
  await rm(copy, { recursive: true, force: true });
}

/** @returns {Promise<number>} the exit code: 1 if a mutant survived */
async function killAll() {
  const wanted = process.argv.slice(2).filter((argument) => argument !== '--days');
  const isWanted = (/** @type {{ name: string }} */ { name }) => wanted.length === 0 || wanted.includes(name);
  const mutants = MUTANTS.filter(isWanted);
  const defects = [...DEFECTS.filter(isWanted), ...(wanted.length === 0 ? [] : mutants.map(alone))];
  const known = [...MUTANTS, ...(byDays ? DEFECTS : [])].map(({ name }) => name);
  const unknown = wanted.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new Error(`no mutant has this name: ${unknown.join(', ')}`);
  const survivors = byDays ? await surviveDays(defects) : await surviveTests(mutants);
  process.stdout.write(
    `${(byDays ? defects : mutants).length - survivors.length} killed, ${survivors.length} survived\n`,
  );
  return survivors.length === 0 ? 0 : 1;
}

/** @param {import('./mutants/mutants.mjs').Mutant} mutant @returns {import('./mutants/mutants.mjs').Defect} */
function alone({ name, rule }) {
  return { name, defect: rule, mutants: [name] };
}

/** @param {readonly import('./mutants/mutants.mjs').Mutant[]} mutants */
async function surviveTests(mutants) {
  const tests = [...new Set(mutants.flatMap((mutant) => mutant.tests))];
  // If there is no test to run, Jest fails, which would look like a killed mutant.
  const missing = tests.filter((test) => !test.endsWith('.test.ts') || !existsSync(join(copy, test)));
  if (missing.length > 0) throw new Error(`these test files do not exist: ${missing.join(', ')}`);
  // Check all mutants before the first test, because the last one runs hours later.
  for (const mutant of mutants) {
    broken(await readFile(join(copy, mutant.file), 'utf8'), mutant);
    await requireProof(mutant);
  }
  log(`Running the tests in ${tests.length} files on the unchanged code, which must pass …`);
  const limitsOf = await limitsFrom(mutants);

  const survivors = [];
  for (const [index, mutant] of mutants.entries()) {
    // A mutant that does not compile must not keep the others from being tried.
    const end = await redWith([mutant], () => testsOf([mutant], limitsOf(mutant))).then(
      (output) => (output === undefined ? 'SURVIVED' : 'killed'),
      (error) => (log(String(error)), 'NO BUILD'),
    );
    if (end !== 'killed') survivors.push(mutant.name);
    process.stdout.write(`${end.padEnd(8)}  ${index + 1}/${mutants.length}  ${mutant.name}: ${mutant.rule}\n`);
  }
  return survivors;
}

/** @param {readonly import('./mutants/mutants.mjs').Defect[]} defects */
async function surviveDays(defects) {
  const survivors = [];
  for (const { name, defect, mutants } of defects) {
    process.stdout.write(`${name}: ${defect}\n`);
    const together = MUTANTS.filter((mutant) => mutants.includes(mutant.name));
    if (together.length < mutants.length) throw new Error(`${name}: one of its mutants does not exist`);
    if ((await redWith(together, daysOf)) === undefined) survivors.push(name);
  }
  return survivors;
}

/** @param {string} code @param {import('./mutants/mutants.mjs').Mutant} mutant @returns the code with the rule broken */
function broken(code, { name, file, find, replace }) {
  if (code.split(find).length !== 2) {
    throw new Error(
      `${name}: its "find" text must occur exactly once in ${file}. Update the text to match the current code`,
    );
  }
  return code.replace(find, () => replace);
}

/** Jest skips all tests if none has the title, which would look like a mutant that survived. @param {import('./mutants/mutants.mjs').Mutant} mutant */
async function requireProof({ name, tests, proof }) {
  const files = await Promise.all(tests.map((test) => readFile(join(copy, test), 'utf8')));
  if (proof && !files.some((text) => text.includes(proof)))
    throw new Error(`${name}: its "proof" must be the title of a test in ${tests.join(' or ')}. Update it`);
}

async function copyProject() {
  const copy = await mkdtemp(join(tmpdir(), 'fulfilment-mutants-'));
  for (const part of COPIED) await cp(join(projectRoot, part), join(copy, part), { recursive: true });
  await mkdir(join(copy, 'dist'), { recursive: true });
  await symlink(join(projectRoot, 'node_modules'), join(copy, 'node_modules'), 'dir');
  return copy;
}

/**
 * @param {readonly import('./mutants/mutants.mjs').Mutant[]} mutants broken together
 * @param {() => Promise<string | undefined>} check
 * @returns the output of the check on the broken code, or undefined if it found nothing
 */
async function redWith(mutants, check) {
  /** @type {Map<string, string>} */
  const sound = new Map();
  try {
    for (const mutant of mutants) {
      const path = join(copy, mutant.file);
      const code = await readFile(path, 'utf8');
      if (!sound.has(path)) sound.set(path, code);
      await writeFile(path, broken(code, mutant));
    }
    return await check();
  } finally {
    for (const [path, code] of sound) await writeFile(path, code);
  }
}

/**
 * Runs the tests of these mutants on the unchanged code, which must pass.
 *
 * @param {readonly import('./mutants/mutants.mjs').Mutant[]} mutants
 * @returns {Promise<(mutant: import('./mutants/mutants.mjs').Mutant) => { testMs: number, allMs: number }>} the limits of
 *   one test of a mutant, and of all its tests
 */
async function limitsFrom(mutants) {
  const file = join(copy, 'dist/unchanged.json');
  const begunAt = performance.now();
  const red = await testsOf(mutants, { allMs: mutants.length * LIMIT_PER_FILE_MS }, ['--json', '--outputFile', file]);
  if (red) throw new Error(`the tests fail without any mutant; fix that first:\n${red}`);
  const allMs = PATIENCE * (performance.now() - begunAt);
  /** @type {{ testResults: { name: string, assertionResults: { title: string, duration?: number }[] }[] }} */
  const { testResults } = JSON.parse(await readFile(file, 'utf8'));
  return ({ tests, proof = '' }) => {
    const durations = testResults
      .filter(({ name }) => tests.some((test) => name.endsWith(test)))
      .flatMap(({ assertionResults }) => assertionResults)
      .filter(({ title }) => title.includes(proof))
      .map(({ duration }) => duration ?? 0);
    const testMs = Math.ceil(Math.max(LEAST_TEST_LIMIT_MS, PATIENCE * Math.max(...durations)));
    return { testMs, allMs: Math.max(testMs, allMs) };
  };
}

/**
 * Runs the tests of these mutants. A mutant that does not compile proves nothing, so a failed build is an error.
 *
 * @param {readonly import('./mutants/mutants.mjs').Mutant[]} mutants
 * @param {{ testMs?: number, allMs: number }} limits
 * @param {readonly string[]} [more] arguments of Jest
 * @returns {Promise<string | undefined>} the output of Jest if a test failed, otherwise undefined
 */
async function testsOf(mutants, { testMs, allMs }, more = []) {
  const files = new Set(mutants.flatMap(({ tests }) => tests));
  const proofs = mutants.flatMap(({ proof = '' }) => proof.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&') || []);
  const titles = proofs.length === mutants.length ? ['--testNamePattern', proofs.join('|')] : [];
  const limit = testMs ? ['--testTimeout', String(testMs)] : [];
  const stop = ['--bail', '--env', join(copy, 'test/support/stop-at-first-failure.mjs')];
  return jest([...more, ...limit, ...titles, ...stop, '--runTestsByPath', ...files], allMs);
}

async function daysOf() {
  return jest(['--runInBand', '--testMatch', '**/bad-days/*.faults.ts'], DAYS_LIMIT_MS, { BAD_DAYS_FIRST: '1' });
}

/** @param {string[]} args @param {number} limitMs @param {Record<string, string>} [more] @returns {Promise<string | undefined>} */
async function jest(args, limitMs, more = {}) {
  await run(process.execPath, [join(copy, 'scripts/build.mjs'), '--changed'], {
    cwd: copy,
    env,
    limitMs: BUILD_LIMIT_MS,
  });
  const program = join(copy, 'node_modules/jest/bin/jest.js');
  return run(process.execPath, [program, '--rootDir', copy, ...args], {
    cwd: copy,
    env: { ...env, ...more },
    limitMs,
    // The servers that its tests start must end with it, even if it hangs.
    detached: true,
    onLine: byDays ? (line) => void process.stdout.write(`${line}\n`) : undefined,
  }).then(
    () => undefined,
    (error) => error.message,
  );
}
