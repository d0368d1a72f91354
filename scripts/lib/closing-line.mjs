import { log } from './log.mjs';

/** A Jest that has counted its tests has only to end. One that does not has left something open, and never will. */
const LINGER_MS = 60_000;

/** Bound now: a Jest that is made to exit takes `write` away first. */
const print = process.stdout.write.bind(process.stdout);

/**
 * What is read of Jest's results.
 *
 * @typedef {object} Results
 * @property {number} numPassedTests
 * @property {number} numFailedTests
 * @property {number} numRuntimeErrorTestSuites
 * @property {unknown} [runExecError] of Jest itself
 * @property {{ testResults: { status: string, fullName: string }[] }[]} testResults
 */

/**
 * A Jest reporter: the last line that Jest prints is `N passed, N failed`, and `, N skipped` if there are any. A suite that
 * could not run counts as one failed test. A test that is skipped without a reason fails the run: that is how a forgotten
 * `.only` shows; a choice of tests by name needs none.
 */
export default class ClosingLine {
  /** @type {string[]} why the run is red although no test failed */
  problems = [];

  /**
   * @param {{ testNamePattern?: string }} config
   * @param {{ lingerMs?: number }} [options]
   */
  constructor({ testNamePattern }, { lingerMs = LINGER_MS } = {}) {
    this.isChoice = Boolean(testNamePattern);
    this.lingerMs = lingerMs;
  }

  /**
   * @param {unknown} _contexts
   * @param {Results} results
   */
  onRunComplete(_contexts, { numPassedTests, numFailedTests, numRuntimeErrorTestSuites, runExecError, testResults }) {
    const failed = numFailedTests + numRuntimeErrorTestSuites + (runExecError ? 1 : 0);
    const tests = testResults.flatMap((suite) => suite.testResults);
    const skipped = tests.filter(({ status }) => status !== 'passed' && status !== 'failed');
    const shown = this.isChoice ? [] : skipped.map(({ fullName }) => fullName);
    // A reason stands at the end of the title, for instance `… [no Java here]`.
    const unexplained = shown.filter((title) => !/\[[^\]]+\]$/.test(title));
    this.problems = unexplained.map(
      (title) => `A skipped test must end its title with the reason in brackets: ${title}`,
    );
    if (numPassedTests + failed === 0) this.problems.push('No test was run.');
    const counts = `${numPassedTests} passed, ${failed} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}`;
    const lines = [...shown.map((title) => `skipped: ${title}`), ...this.problems, counts];
    process.once('exit', () => print(`${lines.join('\n')}\n`));
    setTimeout(() => this.endLingering(), this.lingerMs).unref();
    // Whoever started Jest knows by this that the line will come.
    process.send?.('counted');
  }

  /** An error makes Jest's exit code 1. */
  getLastError() {
    return this.problems.length > 0 ? new Error(this.problems[0]) : undefined;
  }

  endLingering() {
    log(
      `Jest did not end within ${this.lingerMs / 1000} s of its last test, so it was ended: something was left open.`,
    );
    process.exit(1);
  }
}
