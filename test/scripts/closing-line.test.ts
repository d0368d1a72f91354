import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '../support/clean-up';
import { writeExecutable } from './machine';

const root = join(__dirname, '..', '..');
const JEST = join(root, 'node_modules/jest/bin/jest.js');
const REPORTER = join(root, 'test/support/closing-line.mjs');
const PASSES = "test('a', () => {});";

let dir: string;
beforeEach(() => (dir = temporaryFolder()));

function node(args: string[], env: NodeJS.ProcessEnv = {}) {
  const options = { cwd: dir, env: { ...process.env, ...env }, encoding: 'utf8' } as const;
  const { status: code, stdout, stderr } = spawnSync(process.execPath, args, options);
  return { code, stderr, lines: stdout.trimEnd().split('\n') };
}

/**
 * Creates a separate Jest project with the reporter.
 *
 * @returns its configuration as arguments
 */
async function project(suites: readonly string[], config = {}): Promise<string[]> {
  await writeFile(join(dir, 'package.json'), '{}');
  for (const [number, code] of suites.entries()) await writeFile(join(dir, `${number}.test.js`), code);
  const reporters = [[REPORTER, { lingerMs: 300 }]];
  const all = { rootDir: dir, testEnvironment: 'node', reporters, ...config };
  return ['--rootDir', dir, '--config', JSON.stringify(all)];
}

test.each<[string, string[], string[], unknown[], number]>([
  [
    'every test of every suite is counted',
    [PASSES, "test('b', () => {}); test('c', () => {});"],
    [],
    ['3 passed, 0 failed'],
    0,
  ],
  ['a failing test fails the run', [PASSES, "test('b', () => { throw 1; });"], [], ['1 passed, 1 failed'], 1],
  [
    'a suite that could not run counts as one failure',
    [PASSES, "require('./not-there');"],
    [],
    ['1 passed, 1 failed'],
    1,
  ],
  [
    'a skipped test is printed with its reason before the last line',
    [`${PASSES} test.skip('needs one [no cluster here]', () => {});`],
    [],
    ['skipped: needs one [no cluster here]', '1 passed, 0 failed, 1 skipped'],
    0,
  ],
  [
    'a test skipped without a reason fails the run, so that a forgotten .only cannot hide other tests',
    ["test.only('a', () => {}); test('b', () => {});"],
    [],
    [expect.stringMatching(/must end its title with the reason in brackets: b/), '1 passed, 0 failed, 1 skipped'],
    1,
  ],
  [
    'a selection by name needs no reason for the tests it leaves out',
    [`${PASSES} test('b', () => {});`],
    ['-t', 'a'],
    ['1 passed, 0 failed, 1 skipped'],
    0,
  ],
  [
    'a run without any test is not a success',
    ["test.skip('a [not here]', () => {});"],
    [],
    ['No test was run.', '0 passed, 0 failed, 1 skipped'],
    1,
  ],
  ['Jest prints it even with --forceExit', [PASSES], ['--forceExit'], ['1 passed, 0 failed'], 0],
  [
    'Jest prints it even if it buffers the output of its reporters',
    [PASSES, PASSES],
    ['--reporters', 'default', '--reporters', REPORTER, '--maxWorkers', '2'],
    ['2 passed, 0 failed'],
    0,
  ],
])('the last line: %s', async (_, suites, args, last, exitCode) => {
  const { code, lines } = node([JEST, ...(await project(suites)), ...args]);
  expect(lines.slice(-last.length)).toEqual(last);
  expect(code).toBe(exitCode);
});

test.each([
  ['prints something and fails', "console.log('ending'); throw new Error('no');", 'no'],
  ['leaves something open, which must not block the run', 'setInterval(() => {}, 1000);', 'something was left open'],
])('a Jest run that %s at its end fails, and the line is still the last one', async (_, ending, said) => {
  const globalTeardown = join(dir, 'teardown.js');
  await writeFile(globalTeardown, `module.exports = () => { ${ending} };`);
  const { code, stderr, lines } = node([JEST, ...(await project([PASSES], { globalTeardown }))]);
  expect(stderr).toContain(said);
  expect(lines.at(-1)).toBe('1 passed, 0 failed');
  expect(code).toBe(1);
});

describe('npm test', () => {
  async function npmTest(args: string[]) {
    const cli = await writeExecutable(join(dir, 'temporal'), 'echo "temporal version 9.9.9 (Server 1.29.1)"');
    const server = await writeExecutable(join(dir, 'test-server'), 'echo "Usage: <command> <port> <flags>"');
    return node([join(root, 'scripts/run.mjs'), 'test', ...args], { TEMPORAL_CLI: cli, TEMPORAL_TEST_SERVER: server });
  }

  test.each([
    ['ends well', PASSES, [], '1 passed, 0 failed', 0],
    ['is killed before it has counted its tests', "test('a', () => process.kill(process.pid, 'SIGKILL'));", []],
    ['refuses to start', PASSES, ['--preset', './nothing']],
    ['finds no test', '', ['--testMatch', '**/nothing']],
  ])('prints exactly one closing line, with a matching exit code, if Jest %s', async (...given) => {
    const [, suite, args, line = '0 passed, 1 failed', exitCode = 1] = given;
    const { code, lines } = await npmTest([...(await project([suite])), ...args]);
    expect(lines.at(-1)).toBe(line);
    expect(lines.filter((one) => / passed, /.test(one))).toHaveLength(1);
    expect(code).toBe(exitCode);
  });

  test('reports why it cannot start Jest, and counts that as one failure', () => {
    const { code, lines, stderr } = node([join(root, 'scripts/run.mjs'), 'test'], { TEMPORAL_CLI: '/no/such/file' });
    expect(stderr).toContain('TEMPORAL_CLI is set to /no/such/file');
    expect(lines).toEqual(['0 passed, 1 failed']);
    expect(code).toBe(1);
  });
});
