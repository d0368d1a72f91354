import { writeSync } from 'node:fs';
import { log } from '../../scripts/lib/log.mjs';

/**
 * A Jest reporter that prints the last line: `N passed, N failed`, and `, N skipped` if any. A suite that cannot run
 * counts as one failed test. A skipped test whose title does not end with a reason, such as `[no Java here]`, fails the
 * run, which reveals a forgotten `.only`. A selection of tests by name needs no reasons.
 */
export default class ClosingLine {
  /** @type {() => Error | undefined} an error makes Jest's exit code 1 even if no test failed */
  getLastError = () => undefined;

  /** @param {{ testNamePattern?: string }} config @param {{ lingerMs?: number }} [options] */
  constructor({ testNamePattern }, { lingerMs = 60_000 } = {}) {
    this.isChoice = Boolean(testNamePattern);
    this.lingerMs = lingerMs;
    // If the parent was killed, end the whole process group too.
    if (process.send) process.once('disconnect', () => process.kill(-process.pid, 'SIGKILL')).channel?.unref();
  }

  /**
   * @type {(contexts: unknown, results: { numPassedTests: number, numFailedTests: number, numRuntimeErrorTestSuites: number,
   *   runExecError?: unknown, testResults: { testResults: { status: string, fullName: string }[] }[] }) => void}
   */
  onRunComplete(_contexts, { numPassedTests, numFailedTests, numRuntimeErrorTestSuites, runExecError, testResults }) {
    const failed = numFailedTests + numRuntimeErrorTestSuites + (runExecError ? 1 : 0);
    const tests = testResults.flatMap((suite) => suite.testResults);
    const skipped = tests.filter(({ status }) => status !== 'passed' && status !== 'failed');
    const shown = this.isChoice ? [] : skipped.map(({ fullName }) => fullName);
    const unexplained = shown.filter((title) => !/\[[^\]]+\]$/.test(title));
    const problems = unexplained.map(
      (title) => `A skipped test must end its title with the reason in brackets: ${title}`,
    );
    if (numPassedTests + failed === 0) problems.push('No test was run.');
    if (problems.length > 0) this.getLastError = () => new Error(problems[0]);
    const counts = `${numPassedTests} passed, ${failed} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}`;
    const lines = [...shown.map((title) => `skipped: ${title}`), ...problems, counts];
    process.once('exit', () => lines.forEach(print));
    // Jest has nothing left to do. If it does not exit, a test left something open and it never will.
    setTimeout(() => {
      log(
        `Jest did not exit within ${this.lingerMs / 1000} s after its last test, so it was stopped: something was left open.`,
      );
      process.exit(1);
    }, this.lingerMs).unref();
    // Tells the parent that the closing line will follow.
    process.send?.('counted');
  }
}

/** @type {(line: string) => void} bypasses `process.stdout`, which Jest wraps and has removed when it exits */
function print(line) {
  for (;;) {
    try {
      return void writeSync(1, `${line}\n`);
    } catch (error) {
      // EAGAIN: the pipe is full because its reader is slow, so try again.
      if (error.code !== 'EAGAIN') return;
    }
  }
}
