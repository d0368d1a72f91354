import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dayOf, type FailedDay, liveDays, report, reportShrunk, shrinkDay } from './days';
import { makePlan } from './make-plan';
import type { Plan } from './plan';

const HOUR = 3_600_000;
/** Most of a day is waiting: so many at a time leave half of two cores idle, so that nothing is late on their account. */
const AT_ONCE = Number(process.env.BAD_DAYS_AT_ONCE ?? 6 * availableParallelism());
/** A try takes up to two minutes. */
const MOST_TRIES = 40;

const { BAD_DAYS_SEED, BAD_DAYS_SEEDS = '200', BAD_DAYS_FROM = '1', BAD_DAYS_PLAN } = process.env;
const address = process.env.TEST_TEMPORAL_ADDRESS ?? '';

describe('seeded bad days', () => {
  it(
    'end with everything bought once, delivered once or reported, whatever went wrong on them',
    async () => {
      const failures = (BAD_DAYS_PLAN ?? BAD_DAYS_SEED) ? await oneDay() : await manyDays();
      expect(failures.map(({ plan: { seed }, violations }) => ({ seed, violations }))).toEqual([]);
    },
    12 * HOUR,
  );
});

/** The day of one seed, which is then shrunk; or of a plan from a file, which is not. */
async function oneDay(): Promise<FailedDay[]> {
  const plan = BAD_DAYS_PLAN
    ? (JSON.parse(readFileSync(BAD_DAYS_PLAN, 'utf8')) as Plan)
    : makePlan(Number(BAD_DAYS_SEED));
  const failed = await dayOf(plan, address);
  if (!failed) return [];
  log(report(failed));
  if (!BAD_DAYS_PLAN) log(reportShrunk(await shrinkDay(failed, address, MOST_TRIES)));
  return [failed];
}

async function manyDays(): Promise<FailedDay[]> {
  const seeds = Array.from({ length: Number(BAD_DAYS_SEEDS) }, (_, at) => Number(BAD_DAYS_FROM) + at);
  const begunAt = Date.now();
  return liveDays(seeds, {
    address,
    atOnce: AT_ONCE,
    onDay(failed, { done, of, failed: count }) {
      if (failed) log(report(failed));
      const minutes = ((Date.now() - begunAt) / 60_000).toFixed(1);
      if (failed ?? (process.stdout.isTTY || done % 10 === 0 || done === of)) {
        log(`${done} of ${of} days, ${count} failed, ${minutes} minutes`);
      }
    },
  });
}

/** Progress, past Jest's own reporter. */
function log(line: string): void {
  process.stdout.write(`${line}\n`);
}
