import { createPacer } from '../../../src/partner/pacer';
import { startServer } from '../../support/http-server';
import { clientOf, envelope, NEW_ORDER } from './fixtures';

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

  it('turns away at once whoever would be too late, and keeps no slot for him: the next in time gets it', async () => {
    const clock = { now: () => 0, sleep: async () => undefined };
    const pace = createPacer(1, clock);
    expect([await pace(0), await pace(500), await pace(1000), await pace(1500)]).toEqual([true, false, true, false]);
  });

  it('sends no order whose turn comes after its last moment, and says so at once', async () => {
    const server = await startServer();
    server.script({ json: envelope({ id: 'o-1' }) });
    const partner = clientOf(server.url, { maxRequestsPerSecond: 0.01 });
    await partner.placeOrder(NEW_ORDER);
    const second = partner.placeOrder(NEW_ORDER, { notAfter: Date.now() + 5_000 });
    await expect(second).rejects.toMatchObject({ kind: 'too-late', placement: 'NOT_SENT' });
    expect(server.received).toHaveLength(1);
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
  });
});
