import { freshMachine, type Machine } from './machine';

let machine: Machine;
beforeAll(async () => (machine = await freshMachine()));
afterAll(() => machine.dispose());

interface Summary {
  readonly lines: string[];
  readonly ok: boolean;
}

async function summarise(tests: [status: string, title: string][], options: Options = {}): Promise<Summary> {
  const { brokenSuites = 0, exitCode = 0, args = [] } = options;
  const assertionResults = tests.map(([status, fullName]) => ({ status, fullName }));
  const report = { numRuntimeErrorTestSuites: brokenSuites, testResults: [{ assertionResults }] };
  return call([report, exitCode, args]);
}

interface Options {
  readonly brokenSuites?: number;
  readonly exitCode?: number;
  readonly args?: string[];
}

async function call(args: unknown[]): Promise<Summary> {
  const { stdout } = await machine.call('jest-summary.mjs', 'summarise', { args }).ended;
  return JSON.parse(stdout) as Summary;
}

test('the last line counts every test', async () => {
  const { lines, ok } = await summarise([
    ['passed', 'a'],
    ['passed', 'b'],
  ]);
  expect(lines).toEqual(['2 passed, 0 failed']);
  expect(ok).toBe(true);
});

test('a suite that could not run counts as failed and is never passed over', async () => {
  const { lines, ok } = await summarise([['passed', 'a']], { brokenSuites: 1, exitCode: 1 });
  expect(lines).toEqual(['1 passed, 1 failed']);
  expect(ok).toBe(false);
});

test('a skipped test is printed with its reason before the last line', async () => {
  const { lines, ok } = await summarise([
    ['passed', 'a'],
    ['pending', 'needs a cluster [no cluster here]'],
  ]);
  expect(lines).toEqual(['skipped: needs a cluster [no cluster here]', '1 passed, 0 failed, 1 skipped']);
  expect(ok).toBe(true);
});

test('a test skipped without a reason fails the run, so that a forgotten .only can not hide the others', async () => {
  const { lines, ok } = await summarise([
    ['passed', 'a'],
    ['pending', 'b'],
  ]);
  expect(ok).toBe(false);
  expect(lines.at(-1)).toBe('1 passed, 0 failed, 1 skipped');
});

test('a choice by name needs no reason for what it leaves out', async () => {
  const { lines, ok } = await summarise(
    [
      ['passed', 'a'],
      ['pending', 'b'],
    ],
    { args: ['-t', 'a'] },
  );
  expect(lines).toEqual(['1 passed, 0 failed, 1 skipped']);
  expect(ok).toBe(true);
});

test('a run of no test at all is no success', async () => {
  const { lines, ok } = await summarise([]);
  expect(lines).toEqual(['No test was run.', '0 passed, 0 failed']);
  expect(ok).toBe(false);
});

test('a Jest that left no report counts as one failure', async () => {
  expect(await call([null, 1, []])).toEqual({ lines: ['0 passed, 1 failed'], ok: false });
});

test('a Jest that failed although every test passed is no success', async () => {
  const { ok } = await summarise([['passed', 'a']], { exitCode: 1 });
  expect(ok).toBe(false);
});
