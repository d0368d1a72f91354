import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { type FailedDay, liveDays, report, reportShrunk, shrinkDay } from './days';
import { makePlan } from './make-plan';
import type { Plan } from './plan';
import { sharedServers } from './servers';
import { log } from '../../support/log';

const HOUR = 3_600_000;
/**
 * A day is mostly waiting. This many at a time leave half of two cores idle, so that nothing is late for lack of CPU.
 */
const AT_ONCE = Number(process.env.BAD_DAYS_AT_ONCE ?? 4 * availableParallelism());
/** One try takes a minute or two. */
const MAX_TRIES = 60;

const { BAD_DAYS_SEED, BAD_DAYS_SEEDS = '200', BAD_DAYS_FROM = '1', BAD_DAYS_PLAN, BAD_DAYS_FIRST } = process.env;

it(
  'seeded bad days end with every purchase bought once, and every key delivered once or reported',
  async () => {
    const withServer = sharedServers();
    const plans = plansOf();
    const begunAt = Date.now();
    const untilFailure = BAD_DAYS_FIRST !== undefined;
    const onDay = (failed: FailedDay | undefined, done: number) => {
      if (failed) log(report(failed));
      const minutes = ((Date.now() - begunAt) / 60_000).toFixed(1);
      if (done % 10 === 0 || done === plans.length) log(`${done} of ${plans.length} days, ${minutes} minutes`);
    };
    const failures = await liveDays(plans, { withServer, atOnce: AT_ONCE, untilFailure, onDay });
    const [first] = failures;
    if (first && (BAD_DAYS_SEED ?? BAD_DAYS_FIRST)) {
      log(reportShrunk(await shrinkDay(first, withServer, { most: MAX_TRIES, atOnce: AT_ONCE })));
    }
    expect(failures.map(({ plan: { seed }, violations }) => ({ seed, violations }))).toEqual([]);
  },
  12 * HOUR,
);

/** The plan of a file, or the plans of one or many seeds. */
function plansOf(): Plan[] {
  if (BAD_DAYS_PLAN) return [JSON.parse(readFileSync(BAD_DAYS_PLAN, 'utf8')) as Plan];
  if (BAD_DAYS_SEED) return [makePlan(Number(BAD_DAYS_SEED))];
  return Array.from({ length: Number(BAD_DAYS_SEEDS) }, (_, at) => makePlan(Number(BAD_DAYS_FROM) + at));
}
