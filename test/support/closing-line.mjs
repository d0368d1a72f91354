import { writeSync } from 'node:fs';
import { log } from '../../scripts/lib/log.mjs';

/**
 * A Jest reporter: the last line that Jest prints is `N passed, N failed`, and `, N skipped` if there are any. A suite that
 * could not run counts as one failed test. A test that is skipped without a reason at the end of its title, for instance
 * `[no Java here]`, fails the run: that is how a forgotten `.only` shows. A choice of tests by name needs no reason.
 */
export default class ClosingLine {
  /** @type {() => Error | undefined} where it returns one, Jest's exit code is 1 although no test failed */
  getLastError = () => undefined;

  /** @param {{ testNamePattern?: string }} config @param {{ lingerMs?: number }} [options] */
  constructor({ testNamePattern }, { lingerMs = 60_000 } = {}) {
    this.isChoice = Boolean(testNamePattern);
    this.lingerMs = lingerMs;
    // The process that started this group was killed, so the group ends too.
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
    // A Jest that has counted its tests has only to end. One that does not has left something open, and never will.
    setTimeout(() => {
      log(
        `Jest did not end within ${this.lingerMs / 1000} s of its last test, so it was ended: something was left open.`,
      );
      process.exit(1);
    }, this.lingerMs).unref();
    // Tells the process that started Jest that the line will come.
    process.send?.('counted');
  }
}

/** @type {(line: string) => void} not by `process.stdout`, which Jest has wrapped, and then taken away, by the time it exits */
function print(line) {
  for (;;) {
    try {
      return void writeSync(1, `${line}\n`);
    } catch (error) {
      // EAGAIN: the pipe is full because its reader is slow.
      if (error.code !== 'EAGAIN') return;
    }
  }
}
