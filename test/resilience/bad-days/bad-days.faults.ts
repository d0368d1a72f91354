import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dayOf, type FailedDay, liveDays, report, reportShrunk, shrinkDay } from './days';
import type { Plan } from './plan';
import { SharedServers } from './servers';
import { log } from '../../support/log';

const HOUR = 3_600_000;
/** Most of a day is waiting: so many at a time leave half of two cores idle, so that nothing is late on their account. */
const AT_ONCE = Number(process.env.BAD_DAYS_AT_ONCE ?? 4 * availableParallelism());
/** A try takes a minute or two. */
const MOST_TRIES = 60;

const { BAD_DAYS_SEED, BAD_DAYS_SEEDS = '200', BAD_DAYS_FROM = '1', BAD_DAYS_PLAN, BAD_DAYS_FIRST } = process.env;
const servers = new SharedServers();

describe('seeded bad days', () => {
  it(
    'end with everything bought once, delivered once or reported, whatever went wrong on them',
    async () => {
      const failures = BAD_DAYS_PLAN ? await planFromFile(BAD_DAYS_PLAN) : await days();
      const [first] = failures;
      if (first && (BAD_DAYS_SEED ?? BAD_DAYS_FIRST)) {
        log(reportShrunk(await shrinkDay(first, servers, { most: MOST_TRIES, atOnce: AT_ONCE })));
      }
      expect(failures.map(({ plan: { seed }, violations }) => ({ seed, violations }))).toEqual([]);
    },
    12 * HOUR,
  );
});

async function planFromFile(path: string): Promise<FailedDay[]> {
  const failed = await dayOf(JSON.parse(readFileSync(path, 'utf8')) as Plan, servers);
  if (failed) log(report(failed));
  return failed ? [failed] : [];
}

/** The days of many seeds, or of one. */
async function days(): Promise<FailedDay[]> {
  const seeds = Array.from({ length: Number(BAD_DAYS_SEEDS) }, (_, at) => Number(BAD_DAYS_FROM) + at);
  const begunAt = Date.now();
  return liveDays(BAD_DAYS_SEED ? [Number(BAD_DAYS_SEED)] : seeds, {
    servers,
    atOnce: AT_ONCE,
    untilFailure: BAD_DAYS_FIRST !== undefined,
    onDay(failed, { done, of, failed: count }) {
      if (failed) log(report(failed));
      const minutes = ((Date.now() - begunAt) / 60_000).toFixed(1);
      if (failed ?? (process.stdout.isTTY || done % 10 === 0 || done === of)) {
        log(`${done} of ${of} days, ${count} failed, ${minutes} minutes`);
      }
    },
  });
}
