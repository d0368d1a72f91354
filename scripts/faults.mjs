import { parseArgs } from 'node:util';
import { runJest } from './lib/jest.mjs';

/**
 * `npm run test:faults`: runs the fault matrix, then 200 seeded bad days.
 *
 *     --seeds N      run N days; --from S sets the first seed (default: 1)
 *     --days         skip the matrix
 *     --first        stop at the first day that fails, and shrink its plan
 *     --seed S       run only the day of this seed, and shrink its plan if it fails
 *     --plan FILE    run only the day of a shrunk plan
 *     anything else  run only the matrix, with these arguments for Jest
 */
const args = process.argv.slice(2);
const text = /** @type {const} */ ({ type: 'string' });
const flag = /** @type {const} */ ({ type: 'boolean' });
const known = { seeds: text, from: text, seed: text, plan: text, days: flag, first: flag };
const { values, tokens } = parseArgs({ args, options: known, strict: false, tokens: true });
const forJest = tokens.some((token) => token.kind !== 'option' || !(token.name in known));

if (forJest) {
  process.exitCode = await matrix(args);
} else {
  const { seeds, from, seed, plan, days, first } = values;
  const codes = (seed ?? plan ?? days) ? [] : [await matrix([])];
  const wanted = {
    BAD_DAYS_SEEDS: seeds,
    BAD_DAYS_FROM: from,
    BAD_DAYS_FIRST: first,
    BAD_DAYS_SEED: seed,
    BAD_DAYS_PLAN: plan,
  };
  for (const [name, value] of Object.entries(wanted)) if (value !== undefined) process.env[name] = String(value);
  codes.push(await runFaults('bad-days', []));
  process.exitCode = Math.max(...codes);
}

/** @param {readonly string[]} args */
function matrix(args) {
  return runFaults('fault-matrix', args);
}

/** @param {string} folder @param {readonly string[]} args */
function runFaults(folder, args) {
  return runJest(['--runInBand', '--testMatch', `**/${folder}/*.faults.ts`, ...args]);
}
