import * as fc from 'fast-check';
import { createPacer } from '../../../src/partner/pacer';
import { parseRetryAfter } from '../../../src/partner/retry-after';
import { startServer } from '../../support/http-server';
import { clientOf, envelope, NEW_ORDER } from './fixtures';

const NOW = Date.parse('2026-01-02T03:04:05Z');

describe('Retry-After', () => {
  it.each([
    ['0', 0],
    ['7', 7000],
    ['007', 7000],
    ['3600', 3_600_000],
    ['3601', 3_600_000],
    ['9'.repeat(400), 3_600_000],
    ['Fri, 02 Jan 2026 03:04:35 GMT', 30_000],
    ['Friday, 02-Jan-26 03:04:35 GMT', 30_000],
    ['Fri, 02 Jan 2026 03:04:00 GMT', 0],
    ['Fri, 01 Jan 2100 00:00:00 GMT', 3_600_000],
  ])('%s is a pause', (written, ms) => {
    expect(parseRetryAfter(written, NOW)).toBe(ms);
  });

  it.each([
    undefined,
    '',
    ' ',
    '-1',
    '1.5',
    '1e3',
    '0x10',
    'soon',
    '7 s',
    '7, 8',
    'Fri, 99 Jan 2026 03:04:35 GMT',
    '2026-01-02',
  ])('%j is garbage, and no pause', (written) => {
    expect(parseRetryAfter(written, NOW)).toBeUndefined();
  });

  it('never asks for less than nothing or more than an hour, whatever is written', () => {
    fc.assert(
      fc.property(fc.string(), fc.date({ noInvalidDate: true }), (text, date) => {
        for (const written of [text, date.toUTCString(), String(date.getTime())]) {
          const ms = parseRetryAfter(written, NOW);
          expect(ms === undefined || (ms >= 0 && ms <= 3_600_000)).toBe(true);
        }
      }),
    );
  });
});

describe('the rate ceiling', () => {
  /** A clock that stands still but for sleeping, and notes each sleep. */
  function clockAt(start: number) {
    const clock = { time: start, slept: [] as number[], now: () => clock.time, sleep };
    async function sleep(ms: number) {
      clock.slept.push(ms);
      clock.time += ms;
    }
    return clock;
  }

  it('spaces the requests, in order, and lets the first one pass at once', async () => {
    const clock = clockAt(1000);
    const pace = createPacer(4, clock);
    for (let index = 0; index < 4; index++) await pace();
    expect(clock.slept).toEqual([250, 250, 250]);
  });

  it('gives each of those who come at once a slot of its own', async () => {
    const slept: number[] = [];
    const sleep = async (ms: number) => void slept.push(ms);
    const pace = createPacer(0.5, { now: () => 0, sleep });
    await Promise.all([pace(), pace(), pace()]);
    expect(slept).toEqual([2000, 4000]);
  });

  it('saves up nothing: a quiet hour allows no burst', async () => {
    const clock = clockAt(0);
    const pace = createPacer(2, clock);
    await pace();
    clock.time += 3_600_000;
    await pace();
    await pace();
    expect(clock.slept).toEqual([500]);
  });

  it('is not there without one', async () => {
    const clock = clockAt(0);
    const pace = createPacer(undefined, clock);
    await Promise.all([pace(), pace()]);
    expect(clock.slept).toEqual([]);
  });

  it('does not count the wait for a slot as part of the deadline', async () => {
    const server = await startServer();
    server.script({ json: envelope({ id: 'o-1' }) });
    const partner = clientOf(server.url, { maxRequestsPerSecond: 2, timeoutMs: 400 });
    const placed = await Promise.all([1, 2, 3].map(() => partner.placeOrder(NEW_ORDER)));
    expect(placed).toHaveLength(3);
    await partner.close();
    await server.close();
  });
});
