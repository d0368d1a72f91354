/**
 * @typedef {{ status: string, fullName: string }} Assertion
 * @typedef {{ numRuntimeErrorTestSuites: number, testResults: { assertionResults: Assertion[] }[] }} Report Jest's `--json`
 */

/** A skipped test says why at the end of its title, for instance `… [no Java here]`. */
const REASON = /\[([^\]]+)\]$/;

/**
 * The last words of a test run. A suite that could not run counts as one failed test, and so does a Jest that left no
 * report. A test that is skipped without a reason fails the run: that is how a forgotten `.only` shows.
 *
 * @param {Report | undefined} report
 * @param {number} exitCode Jest's own
 * @param {readonly string[]} args as given by the user; a choice of tests by name skips all others, which needs no reason
 * @returns {{ lines: string[], ok: boolean }} the lines to print; the last one is `N passed, N failed`, and
 *   `, N skipped` if there are any
 */
export function summarise(report, exitCode, args) {
  const tests = report?.testResults.flatMap((suite) => suite.assertionResults) ?? [];
  const passed = tests.filter(({ status }) => status === 'passed').length;
  const broken = report ? report.numRuntimeErrorTestSuites : 1;
  const failed = tests.filter(({ status }) => status === 'failed').length + broken;
  const skipped = tests.filter(({ status }) => status !== 'passed' && status !== 'failed');
  const chosen = args.some((arg) => /^(-t|--testNamePattern)/.test(arg));
  const unexplained = chosen ? [] : skipped.filter(({ fullName }) => !REASON.test(fullName));
  const lines = [
    ...(chosen ? [] : skipped.map(({ fullName }) => `skipped: ${fullName}`)),
    ...unexplained.map(({ fullName }) => `A skipped test must end its title with the reason in brackets: ${fullName}`),
    ...(report && passed + failed === 0 ? ['No test was run.'] : []),
    `${passed} passed, ${failed} failed${skipped.length ? `, ${skipped.length} skipped` : ''}`,
  ];
  return { lines, ok: exitCode === 0 && failed === 0 && passed > 0 && unexplained.length === 0 };
}
