/**
 * The tests of `test/scenarios`, `test/resilience` and `test/security` that do not run on the production server, with
 * the reasons.
 *
 * @type {readonly (readonly [file: string, reason: string])[]}
 */
export const LEFT_OUT = [
  ['test/scenarios/delivery/exhausted.test.ts', 'needs the time-skipping test server, which skips a day'],
  ['test/scenarios/purchase/waiting.test.ts', 'needs the time-skipping test server'],
  ['test/scenarios/purchase/bounded-history.test.ts', 'needs the time-skipping test server'],
];
