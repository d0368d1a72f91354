/**
 * The tests of `test/scenarios`, `test/resilience` and `test/security` that do not run on the server of production, and why.
 *
 * @type {readonly (readonly [file: string, why: string])[]}
 */
export const LEFT_OUT = [
  ['test/scenarios/delivery/exhausted.test.ts', 'a day is skipped, which only the time-skipping test server can'],
  ['test/scenarios/purchase/waiting.test.ts', 'as above'],
  ['test/scenarios/purchase/bounded-history.test.ts', 'as above'],
];
