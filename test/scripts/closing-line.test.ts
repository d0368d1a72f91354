import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '../support/clean-up';
import { writeExecutable } from './machine';

const root = join(__dirname, '..', '..');
const JEST = join(root, 'node_modules/jest/bin/jest.js');
const reporter = join(root, 'test/support/closing-line.mjs');

let dir: string;
beforeEach(() => (dir = temporaryFolder()));

interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly lines: string[];
}

function node(args: string[], env: NodeJS.ProcessEnv = {}): Promise<Run> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      args,
      { cwd: dir, env: { ...process.env, ...env } },
      (_error, stdout, stderr) =>
        resolve({ code: child.exitCode ?? 128, stdout, stderr, lines: stdout.trimEnd().split('\n') }),
    );
  });
}

/** A Jest project of its own, with the reporter; returns its configuration as an argument. */
async function project(tests: Record<string, string>, config = {}): Promise<string[]> {
  await writeFile(join(dir, 'package.json'), '{}');
  for (const [name, code] of Object.entries(tests)) await writeFile(join(dir, `${name}.test.js`), code);
  const reporters = [[reporter, { lingerMs: 300 }]];
  return [
    '--rootDir',
    dir,
    '--config',
    JSON.stringify({ rootDir: dir, testEnvironment: 'node', reporters, ...config }),
  ];
}

async function run(tests: Record<string, string>, args: string[] = [], config = {}): Promise<Run> {
  return node([JEST, ...(await project(tests, config)), ...args]);
}

test.each([
  ['counts every test of every suite', "test('b', () => {}); test('c', () => {});", '3 passed, 0 failed', 0],
  [
    'counts a test that fails, and the run is red',
    "test('b', () => { throw new Error('no'); });",
    '1 passed, 1 failed',
    1,
  ],
  ['counts a suite that could not run as failed', "require('./not-there');", '1 passed, 1 failed', 1],
])('the last line %s', async (_what, two, line, exitCode) => {
  const { code, lines } = await run({ one: "test('a', () => {});", two });
  expect(lines.at(-1)).toBe(line);
  expect(code).toBe(exitCode);
});

test('a skipped test is printed with its reason before the last line', async () => {
  const { code, lines } = await run({
    one: "test('a', () => {}); test.skip('needs one [no cluster here]', () => {});",
  });
  expect(lines.slice(-2)).toEqual(['skipped: needs one [no cluster here]', '1 passed, 0 failed, 1 skipped']);
  expect(code).toBe(0);
});

test('a test skipped without a reason fails the run, so that a forgotten .only can not hide the others', async () => {
  const { code, lines } = await run({ one: "test.only('a', () => {}); test('b', () => {});" });
  expect(lines.at(-2)).toMatch(/must end its title with the reason in brackets: b/);
  expect(lines.at(-1)).toBe('1 passed, 0 failed, 1 skipped');
  expect(code).toBe(1);
});

test('a choice by name needs no reason for what it leaves out', async () => {
  const { code, lines } = await run({ one: "test('a', () => {}); test('b', () => {});" }, ['-t', 'a']);
  expect(lines.at(-1)).toBe('1 passed, 0 failed, 1 skipped');
  expect(code).toBe(0);
});

test('a run of no test at all is no success', async () => {
  const { code, lines } = await run({ one: "test.skip('a [not here]', () => {});" });
  expect(lines.slice(-2)).toEqual(['No test was run.', '0 passed, 0 failed, 1 skipped']);
  expect(code).toBe(1);
});

test('the line stays the last one when something is printed while Jest ends, and a failure there is red', async () => {
  await writeFile(
    join(dir, 'teardown.js'),
    "module.exports = () => { console.log('ending'); throw new Error('no'); };",
  );
  const { code, lines } = await run({ one: "test('a', () => {});" }, [], { globalTeardown: join(dir, 'teardown.js') });
  expect(lines).toContain('ending');
  expect(lines.at(-1)).toBe('1 passed, 0 failed');
  expect(code).toBe(1);
});

test('a Jest that leaves something open is ended after its report and does not hold up a run for ever', async () => {
  await writeFile(join(dir, 'teardown.js'), 'module.exports = () => void setInterval(() => {}, 1000);');
  const config = { globalTeardown: join(dir, 'teardown.js') };
  const { code, stderr, lines } = await run({ one: "test('a', () => {});" }, [], config);
  expect(stderr).toContain('something was left open');
  expect(lines.at(-1)).toBe('1 passed, 0 failed');
  expect(code).toBe(1);
});

test.each([
  ['is made to exit', ['--forceExit']],
  ['collects what its reporters print', ['--reporters', 'default', '--reporters', reporter, '--maxWorkers', '2']],
])('a Jest that %s prints the line all the same', async (_what, args) => {
  const { code, lines } = await run({ one: "test('a', () => {});", two: "test('b', () => {});" }, args);
  expect(lines.at(-1)).toBe('2 passed, 0 failed');
  expect(code).toBe(0);
});

describe('npm test', () => {
  async function npmTest(args: string[]): Promise<Run> {
    const cli = await writeExecutable(join(dir, 'temporal'), 'echo "temporal version 9.9.9 (Server 1.29.1)"');
    const server = await writeExecutable(join(dir, 'test-server'), 'echo "Usage: <command> <port> <flags>"');
    return node([join(root, 'scripts/run.mjs'), 'test', ...args], { TEMPORAL_CLI: cli, TEMPORAL_TEST_SERVER: server });
  }

  test('ends with the line of the reporter and the exit code of Jest', async () => {
    const { code, lines } = await npmTest(await project({ one: "test('a', () => {});" }));
    expect(lines.at(-1)).toBe('1 passed, 0 failed');
    expect(code).toBe(0);
  });

  test.each([
    ['is killed before it has counted', "test('a', () => process.kill(process.pid, 'SIGKILL'));", []],
    ['refuses to start', "test('a', () => {});", ['--preset', './nothing']],
    ['finds no test', '', ['--testMatch', '**/nothing']],
  ])('a Jest that %s is one failure, and red', async (_what, code, args) => {
    const run = await npmTest([...(await project({ one: code })), ...args]);
    expect(run.lines.at(-1)).toBe('0 passed, 1 failed');
    expect(run.lines.filter((line) => / passed, /.test(line))).toHaveLength(1);
    expect(run.code).toBe(1);
  });

  test('what keeps it from starting Jest is said, is one failure, and red', async () => {
    const { code, lines, stderr } = await node([join(root, 'scripts/run.mjs'), 'test'], {
      TEMPORAL_CLI: '/no/such/file',
    });
    expect(stderr).toContain('TEMPORAL_CLI is set to /no/such/file');
    expect(lines).toEqual(['0 passed, 1 failed']);
    expect(code).toBe(1);
  });
});
