import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MUTANTS } from './mutants/mutants.mjs';
import { log } from './lib/log.mjs';
import { projectRoot } from './lib/paths.mjs';
import { run } from './lib/run.mjs';
import { ensureTemporalCli } from './lib/temporal-cli.mjs';
import { ensureTestServer } from './lib/test-server.mjs';

/**
 * `npm run mutants [-- NAME …]`: breaks each safety rule on purpose, in a copy of the project, and expects the tests that
 * are mapped to it to turn red. A mutant that survives fails the run, and so does one that no longer fits the code.
 */

/** What of the project a mutant needs; the dependencies are shared. */
const COPIED = [
  'src',
  'test',
  'types',
  'scripts',
  'package.json',
  'package-lock.json',
  '.npmrc',
  'tsconfig.json',
  'tsconfig.test.json',
  'jest.config.js',
];
const LIMIT_MS = 300_000;

const env = { TEMPORAL_CLI: await ensureTemporalCli(), TEMPORAL_TEST_SERVER: await ensureTestServer() };
const copy = await copyProject();
try {
  process.exitCode = await killAll();
} finally {
  await rm(copy, { recursive: true, force: true });
}

/** @returns {Promise<number>} the exit code: 1 when a mutant survived */
async function killAll() {
  const wanted = process.argv.slice(2);
  const mutants = MUTANTS.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
  const tests = [...new Set(mutants.flatMap((mutant) => mutant.tests))];
  // Jest ends red without a test to run, which would look like a killed mutant.
  const missing = tests.filter((test) => !test.endsWith('.test.ts') || !existsSync(join(copy, test)));
  if (missing.length > 0) throw new Error(`there is no test file ${missing.join(', ')}`);
  log(`The unbroken code must pass ${tests.length} test files …`);
  const red = await testsOf(tests);
  if (red) throw new Error(`the tests are red without any mutant; mend that first:\n${red}`);

  const survivors = [];
  for (const [index, mutant] of mutants.entries()) {
    const killed = await isKilled(mutant);
    if (!killed) survivors.push(mutant.name);
    process.stdout.write(
      `${killed ? 'killed  ' : 'SURVIVED'}  ${index + 1}/${mutants.length}  ${mutant.name}: ${mutant.rule}\n`,
    );
  }
  process.stdout.write(`${mutants.length - survivors.length} killed, ${survivors.length} survived\n`);
  return survivors.length === 0 ? 0 : 1;
}

async function copyProject() {
  const copy = await mkdtemp(join(tmpdir(), 'fulfilment-mutants-'));
  for (const part of COPIED) await cp(join(projectRoot, part), join(copy, part), { recursive: true });
  await mkdir(join(copy, 'dist'), { recursive: true });
  await symlink(join(projectRoot, 'node_modules'), join(copy, 'node_modules'), 'dir');
  return copy;
}

/** @param {import('./mutants/mutants.mjs').Mutant} mutant */
async function isKilled(mutant) {
  const path = join(copy, mutant.file);
  const sound = await readFile(path, 'utf8');
  if (sound.split(mutant.find).length !== 2) {
    throw new Error(
      `${mutant.name}: what it replaces does not stand exactly once in ${mutant.file}; fit it to the code`,
    );
  }
  await writeFile(
    path,
    sound.replace(mutant.find, () => mutant.replace),
  );
  try {
    return (await testsOf(mutant.tests)) !== undefined;
  } finally {
    await writeFile(path, sound);
  }
}

/**
 * A mutant that does not even compile proves nothing, so a failed build is an error.
 *
 * @param {readonly string[]} tests
 * @returns {Promise<string | undefined>} what Jest had to say of the tests that failed, or nothing when all passed
 */
async function testsOf(tests) {
  await run(process.execPath, [join(copy, 'scripts/build.mjs')], { cwd: copy, env, limitMs: LIMIT_MS });
  const jest = join(copy, 'node_modules/jest/bin/jest.js');
  return run(process.execPath, [jest, '--bail', '--rootDir', copy, '--runTestsByPath', ...tests], {
    cwd: copy,
    env,
    limitMs: LIMIT_MS,
  }).then(
    () => undefined,
    (error) => error.message,
  );
}
