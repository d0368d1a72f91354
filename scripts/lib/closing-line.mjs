import { log } from './log.mjs';

/** A skipped test says why at the end of its title, for instance `… [no Java here]`. */
const REASON = /\[([^\]]+)\]$/;

/** A Jest that has counted its tests has only to end. One that does not has left something open, and never will. */
const LINGER_MS = 60_000;

/**
 * The part of Jest's results that is needed here.
 *
 * @typedef {object} Results
 * @property {number} numPassedTests
 * @property {number} numFailedTests
 * @property {number} numRuntimeErrorTestSuites
 * @property {unknown} [runExecError] of Jest itself
 * @property {{ testResults: { status: string, fullName: string }[] }[]} testResults
 */

/** A Jest reporter: the last line that Jest prints is `N passed, N failed`, and `, N skipped` if there are any. */
export default class ClosingLine {
  /** @type {Error | undefined} */
  #lastError;

  /**
   * @param {{ testNamePattern?: string }} globalConfig
   * @param {{ lingerMs?: number }} [options]
   */
  constructor(globalConfig, { lingerMs = LINGER_MS } = {}) {
    this.isChoice = Boolean(globalConfig.testNamePattern);
    this.lingerMs = lingerMs;
  }

  /**
   * @param {unknown} _contexts
   * @param {Results} results
   */
  onRunComplete(_contexts, results) {
    const { lines, problem } = summarise(results, this.isChoice);
    if (problem) this.#lastError = new Error(problem);
    process.once('exit', () => process.stdout.write(`${lines.join('\n')}\n`));
    setTimeout(() => end(this.lingerMs), this.lingerMs).unref();
    // Whoever started Jest knows by this that the line will come.
    process.send?.('counted');
  }

  /** An error makes Jest's exit code 1, even where every test passed. */
  getLastError() {
    return this.#lastError;
  }
}

/** @param {number} lingerMs */
function end(lingerMs) {
  log(`Jest did not end within ${lingerMs / 1000} s of its last test: something was left open. Ended.`);
  process.exit(1);
}

/**
 * A suite that could not run counts as one failed test. A test that is skipped without a reason fails the run: that is how
 * a forgotten `.only` shows.
 *
 * @param {Results} results
 * @param {boolean} isChoice of tests by name, which skips all others without a reason
 * @returns {{ lines: string[], problem?: string }} the lines to print; and why the run is red although no test failed
 */
export function summarise(results, isChoice) {
  const { numPassedTests: passed, numFailedTests, numRuntimeErrorTestSuites, runExecError, testResults } = results;
  const failed = numFailedTests + numRuntimeErrorTestSuites + (runExecError ? 1 : 0);
  const skipped = testResults
    .flatMap((suite) => suite.testResults)
    .filter(({ status }) => status !== 'passed' && status !== 'failed')
    .map(({ fullName }) => fullName);
  const lines = isChoice ? [] : skipped.map((name) => `skipped: ${name}`);
  const unexplained = isChoice ? [] : skipped.filter((name) => !REASON.test(name));
  const problems = unexplained.map((name) => `A skipped test must end its title with the reason in brackets: ${name}`);
  if (passed + failed === 0) problems.push('No test was run.');
  const counts = `${passed} passed, ${failed} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}`;
  return { lines: [...lines, ...problems, counts], problem: problems[0] };
}
