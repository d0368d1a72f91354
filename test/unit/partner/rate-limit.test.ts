import { isPartnerError } from '../../../src/partner/errors';
import { type PermitClass, type PermitRequest, type Permits, RateLimit } from '../../../src/partner/rate-limit';
import { minRequestRate, placementMaxAgeMs, PLACEMENT_WRITE_MS } from '../../../src/workflows/policies';
import { clientOf, envelope, failureOf, historyRow, NEW_ORDER, serverWith } from './fixtures';

const CLASSES: PermitClass[] = ['placement', 'delivery', 'confirmation', 'poll', 'reconciliation'];
const HOUR = 3_600_000;
/** How long a read of an order waits for its permit. */
const WAIT_MS = 8_000;

/** A monotonic clock that jumps to the next timer. Times are ms from 0. */
class SimulatedClock {
  private time = 0;
  private readonly timers = new Set<{ at: number; run: () => void }>();

  now = () => this.time;
  sleep = (ms: number) => new Promise<void>((resolve) => void this.setTimeout(resolve, ms));
  clearTimeout = (timer: unknown) => void this.timers.delete(timer as { at: number; run: () => void });
  setTimeout = (run: () => void, ms: number): unknown => {
    const timer = { at: this.time + ms, run };
    this.timers.add(timer);
    return timer;
  };

  /** Suspends the process: time passes, but nothing runs. */
  freeze(ms: number): void {
    this.time += ms;
  }

  async runUntil(end: number): Promise<void> {
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      const next = [...this.timers].reduce((a, b) => (b.at < a.at ? b : a), { at: Infinity, run: () => undefined });
      this.time = Math.max(this.time, Math.min(next.at, end));
      if (next.at > end) return;
      this.timers.delete(next);
      next.run();
    }
  }
}

interface RequestOptions {
  isWrite?: true;
  orderId?: string;
  /** How long the response takes. */
  takesMs?: number;
}

/** A rate limit on a simulated clock, with a log of the sent requests and callers that behave like the activities. */
function simulate(maxRequestsPerSecond: number) {
  const clock = new SimulatedClock();
  const timeOfDay = { behindMs: 0 };
  const limit = new RateLimit({ maxRequestsPerSecond, now: () => clock.now() - timeOfDay.behindMs }, clock);
  const sent: { at: number; what: string }[] = [];
  const waits = { now: 0, most: 0 };
  let seed = 1;

  async function request(what: string, permits: Permits, { isWrite, orderId, takesMs = 0 }: RequestOptions = {}) {
    waits.now += 1;
    waits.most = Math.max(waits.most, waits.now);
    const facts = { operation: orderId === undefined ? 'listOrders' : 'getOrder', orderId } as const;
    await limit.permit({ ...facts, isWrite: isWrite ?? false }, permits).finally(() => (waits.now -= 1));
    sent.push({ at: clock.now(), what });
    await clock.sleep(takesMs);
  }

  /** @returns undefined if everything was sent, otherwise the ms until the next attempt; Infinity for never */
  function attempt(ask: PermitRequest, work: (permits: Permits) => Promise<void>): Promise<number | void> {
    return limit.withPermits(ask, work).catch((error: unknown) => {
      if (isPartnerError(error)) return error.permitInMs ?? Infinity;
      throw error;
    });
  }

  const send = (what: string, ask: PermitRequest) => attempt(ask, (permits) => request(what, permits));

  /** Retries until everything was sent. A retry is up to half a second late, by a reproducible amount. */
  async function retry(mostMs: number, ask: () => PermitRequest, work: (permits: Permits) => Promise<void>) {
    for (let delayMs = await attempt(ask(), work); delayMs !== undefined; delayMs = await attempt(ask(), work)) {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      await clock.sleep(Math.min(Number(delayMs), mostMs) + (seed / 2 ** 31) * 500);
    }
  }

  function place(name: string, { pages = 1, takesMs = 100, windowMs = 15_000 } = {}): Promise<void> {
    const dueAt = clock.now();
    const ask = () => ({ class: 'placement', dueAt, notAfter: clock.now() + windowMs }) as const;
    return retry(60_000, ask, async (permits) => {
      for (let page = 1; page <= pages; page++) await request(`search ${name}`, permits, { takesMs });
      await request(`write ${name}`, permits, { isWrite: true, takesMs });
    });
  }

  function read(permitClass: 'poll' | 'delivery', orderId: string): Promise<void> {
    const ask = () => ({ class: permitClass, notAfter: clock.now() + WAIT_MS });
    return retry(HOUR, ask, (permits) => request(`${permitClass} ${orderId}`, permits, { orderId, takesMs: 100 }));
  }

  /** Polls `count` open orders every 30 s for ever. */
  function pollForEver(count: number, polled: (orderId: string, waitedMs: number) => void = () => undefined): void {
    const poll = async (orderId: string) => {
      for (let dueAt = clock.now(); ; dueAt = clock.now()) {
        await read('poll', orderId);
        polled(orderId, clock.now() - dueAt);
        await clock.sleep(30_000);
      }
    };
    for (let index = 0; index < count; index++) void clock.sleep(30 * index).then(() => poll(`o-${index}`));
  }

  const countOf = (word: string) => sent.filter(({ what }) => what.startsWith(word)).length;
  return { clock, timeOfDay, limit, sent, waits, request, attempt, send, place, read, pollForEver, countOf };
}

const names = (sent: readonly { what: string }[]) => sent.map(({ what }) => what);

describe('permits', () => {
  it('are evenly spaced, the first one immediate, and neither an idle hour nor a suspended process causes a burst', async () => {
    const { clock, sent, send } = simulate(4);
    for (let count = 0; count < 3; count++) void send('poll', { class: 'poll' });
    await clock.runUntil(HOUR);
    for (let count = 0; count < 3; count++) void send('poll', { class: 'poll' });
    await clock.runUntil(HOUR);
    clock.freeze(HOUR);
    await clock.runUntil(3 * HOUR);
    expect(sent.map(({ at }) => at % HOUR)).toEqual([0, 250, 500, 0, 0, 250]);
  });

  it('continue if the wall clock is set back, which postpones no deadline', async () => {
    const { clock, timeOfDay, sent, send } = simulate(1);
    void send('first', { class: 'poll' });
    const late = send('late', { class: 'poll', notAfter: 1_500 });
    void send('before', { class: 'delivery' });
    timeOfDay.behindMs = HOUR;
    void send('after', { class: 'poll' });
    await clock.runUntil(10_000);
    expect(await late).toBeGreaterThan(0);
    expect(names(sent)).toEqual(['first', 'before', 'after']);
  });

  it('go to placements and deliveries first, then to confirmations, polls and the reconciliation, the oldest first in each', async () => {
    const { clock, sent, send } = simulate(1);
    void send('takes the first', { class: 'poll' });
    for (const permitClass of CLASSES.toReversed()) {
      for (const dueAt of [0, -500]) void send(`${permitClass} ${dueAt}`, { class: permitClass, dueAt });
    }
    await clock.runUntil(20_000);
    expect(names(sent).slice(1)).toEqual([
      ...['delivery -500', 'placement -500', 'delivery 0', 'placement 0', 'confirmation -500', 'confirmation 0'],
      ...['poll -500', 'poll 0', 'reconciliation -500', 'reconciliation 0'],
    ]);
  });

  it('starve no class, even if purchases need 1.5 times the rate limit', async () => {
    const { clock, send, place, read, countOf } = simulate(1);
    const forEver = async (work: () => Promise<unknown>) => {
      for (;;) await work();
    };
    for (const one of ['poll', 'delivery'] as const) void forEver(() => read(one, `of a ${one}`));
    for (const one of ['confirmation', 'reconciliation'] as const) void forEver(() => send(one, { class: one }));
    void forEver(() => {
      void place('p');
      return clock.sleep(1_333);
    });
    await clock.runUntil(HOUR);
    expect(CLASSES.slice(1).filter((permitClass) => countOf(permitClass) < 2)).toEqual([]);
  });
});

describe('a request that cannot get a permit before its deadline', () => {
  it('is refused at once and uses no permit; each one gets a different time to come back', async () => {
    const { clock, sent, send } = simulate(1);
    void send('first', { class: 'poll' });
    const late = [400, 500, 600].map((notAfter) => send('late', { class: 'poll', notAfter }));
    const pushedBack = send('pushed back', { class: 'poll', notAfter: 1_500 });
    void send('more urgent', { class: 'delivery' });
    await clock.runUntil(0);
    const told = (await Promise.all([...late, pushedBack])).map(Number);
    expect(told).toEqual(told.toSorted((a, b) => a - b));
    expect(new Set([0, ...told]).size).toBe(5);
    await clock.runUntil(10_000);
    expect(names(sent)).toEqual(['first', 'more urgent']);
  });

  it('is not sent by a process that was suspended: the permit goes to a request that can still use it', async () => {
    const { clock, sent, send } = simulate(1);
    void send('first', { class: 'poll' });
    const waiting = CLASSES.map((permitClass) => send(permitClass, { class: permitClass, notAfter: 9_000 }));
    void send('no deadline', { class: 'reconciliation' });
    await clock.runUntil(0);
    clock.freeze(60_000);
    await clock.runUntil(70_000);
    expect((await Promise.all(waiting)).map((permitInMs) => typeof permitInMs)).toEqual(CLASSES.map(() => 'number'));
    expect(names(sent)).toEqual(['first', 'no deadline']);
  });

  it('keeps its place in the queue if it reads an order', async () => {
    const { clock, sent, request, attempt, send } = simulate(1);
    const read = (orderId: string, notAfter?: number) =>
      attempt({ class: 'poll', notAfter }, (permits) => request(orderId, permits, { orderId }));
    void send('first', { class: 'poll' });
    expect(await read('refused', 500)).toBeGreaterThan(0);
    for (const orderId of ['younger', 'refused']) {
      await clock.runUntil(clock.now() + 100);
      void read(orderId);
    }
    await clock.runUntil(10_000);
    expect(names(sent)).toEqual(['first', 'refused', 'younger']);
  });
});

describe('a placement', () => {
  /** Runs a first purchase, from which the rate limit learns how many pages a search has. */
  async function afterSearchOf(pages: number) {
    const simulation = simulate(1);
    void simulation.place('shows the pages', { pages, windowMs: HOUR });
    await simulation.clock.runUntil(60_000);
    simulation.sent.length = 0;
    return simulation;
  }

  it.each([
    [1, 1_900, 0],
    [1, 2_100, 1],
    [3, 3_900, 0],
    [3, 4_100, 1],
  ])(
    'whose search has %i pages and which has %i ms, behind a delivery, sends %i search requests',
    async (pages, ms, searches) => {
      const { clock, send, countOf } = await afterSearchOf(pages);
      void send('delivery', { class: 'delivery' });
      void send('search', { class: 'placement', notAfter: clock.now() + ms });
      await clock.runUntil(90_000);
      expect(countOf('search')).toBe(searches);
    },
  );

  it('that has begun precedes everything else, even older placements that have not begun', async () => {
    const { clock, sent, send, place } = await afterSearchOf(3);
    void place('begun', { pages: 3 });
    await clock.runUntil(60_000);
    void send('older placement', { class: 'placement', dueAt: 0 });
    void send('older delivery', { class: 'delivery', dueAt: 0 });
    await clock.runUntil(90_000);
    const search = 'search begun';
    expect(names(sent)).toEqual([search, search, search, 'write begun', 'older placement', 'older delivery']);
  });

  it('does not begin if placements that have begun need the permit for its last request', async () => {
    const { clock, send, place } = await afterSearchOf(3);
    void place('begun', { pages: 3 });
    await clock.runUntil(60_100);
    expect(await send('second', { class: 'placement', dueAt: 0, notAfter: clock.now() + 5_000 })).toBeGreaterThan(0);
  });

  it('that is first in the queue begins even if the previous search took longer than its remaining time', async () => {
    const { clock, place, countOf } = await afterSearchOf(30);
    void place('next', { pages: 1, windowMs: 10_000 });
    await clock.runUntil(75_000);
    expect(countOf('write next')).toBe(1);
  });
});

describe('work that has ended', () => {
  it('takes no more permits and frees its reserved ones', async () => {
    const { clock, sent, waits, attempt, request, send } = simulate(1);
    const vanishing = Array.from({ length: 100 }, (_, index) =>
      attempt({ class: 'placement' }, async (permits) => {
        void request('search', permits).catch(() => undefined);
        await clock.sleep(index);
      }),
    );
    await clock.runUntil(99);
    expect(await Promise.all(vanishing)).toEqual(vanishing.map(() => undefined));
    expect(waits.now).toBe(0);
    void send('next', { class: 'placement', notAfter: 3_000 });
    await clock.runUntil(10_000);
    expect(sent.map(({ at, what }) => `${at} ${what}`)).toEqual(['0 search', '1000 next']);
  });

  it.each(['it is aborted', 'the client is closed'])('is never granted a permit again when %s', async (how) => {
    const { clock, limit, sent, send } = simulate(0.001);
    const aborting = new AbortController();
    const ask = { class: 'reconciliation', signal: aborting.signal } as const;
    void send('first', ask);
    await clock.runUntil(0);
    const waiting = send('waiting', ask);
    if (how === 'it is aborted') aborting.abort();
    else limit.close();
    expect([await waiting, await send('later', ask)]).toEqual([Infinity, Infinity]);
    await clock.runUntil(HOUR);
    expect(names(sent)).toEqual(['first']);
  });
});

describe('overload', () => {
  it('by 1,000 open orders at 5 requests a second still polls every order, wastes no permit and delays no purchase', async () => {
    const { clock, sent, waits, place, pollForEver, countOf } = simulate(5);
    const polled = new Set<string>();
    let maxMs = 0;
    pollForEver(1_000, (orderId, waitedMs) => {
      polled.add(orderId);
      maxMs = Math.max(maxMs, waitedMs);
    });
    for (let minute = 5; minute < 20; minute++) {
      await clock.runUntil(minute * 60_000);
      void place(`${minute}`);
      await clock.runUntil(minute * 60_000 + 15_000);
      expect(countOf(`write ${minute}`)).toBe(1);
    }
    expect(sent.length).toBeGreaterThan(0.98 * 5 * (clock.now() / 1_000));
    expect(polled.size).toBe(1_000);
    // One round of 1,000 polls takes 200 s.
    expect(maxMs).toBeLessThan(2 * 200_000);
    // Other polls wait outside the worker and leave its slots free for placements.
    expect(waits.most).toBeLessThanOrEqual((WAIT_MS / 1_000) * 5 + 15);
  });

  it.each([1_000, 15_000, 60_000])(
    'at the lowest rate allowed for a timeout of %i ms places every purchase, despite 10 open orders',
    async (partnerTimeoutMs) => {
      const { clock, place, pollForEver, countOf } = simulate(minRequestRate({ partnerTimeoutMs }));
      const windowMs = placementMaxAgeMs({ partnerTimeoutMs }) - PLACEMENT_WRITE_MS;
      pollForEver(10);
      await clock.runUntil(120_000);
      for (let index = 0; index < 10; index++) void place(`${index}`, { pages: 3, windowMs, takesMs: 50 });
      await clock.runUntil(120_000 + HOUR);
      expect([countOf('write'), countOf('search')]).toEqual([10, 30]);
      expect(countOf('poll')).toBeGreaterThan(10);
    },
  );
});

describe('a client with a rate limit', () => {
  const history = envelope({ hits: 1, orders: [historyRow('o-1')], pages: { page: 1, total: 1, limit: 500 } });

  it('sends no order whose permit would come too late, and says so at once', async () => {
    const server = await serverWith({ json: envelope({ id: 'o-1' }) });
    const permitWaited = jest.fn();
    const observer = { permitWaited, requestEnded: () => undefined, balanceSeen: () => undefined };
    const partner = clientOf(server.url, { maxRequestsPerSecond: 0.01, observer });
    await partner.placeOrder(NEW_ORDER);
    const error = await failureOf(partner.placeOrder(NEW_ORDER, { notAfter: Date.now() + 5_000 }));
    expect(error).toMatchObject({ kind: 'too-late', evidence: 'NOT_SENT', permitInMs: expect.any(Number) });
    expect(server.received).toHaveLength(1);
    expect(permitWaited.mock.calls.map(([, granted]: unknown[]) => granted)).toEqual([true, false]);
  });

  it('uses the permits of the surrounding work: a read of a reconciliation is never as urgent as a delivery', async () => {
    const server = await serverWith({ json: history });
    const partner = clientOf(server.url, { maxRequestsPerSecond: 0.1 });
    await partner.listOrders();
    const aborting = new AbortController();
    const reading = partner.withPermits({ class: 'reconciliation', signal: aborting.signal }, (own) =>
      // With permits of its own this delivery would fail at once, because its deadline has passed.
      own.withPermits({ class: 'delivery', notAfter: Date.now() }, (inner) => inner.listOrders()),
    );
    setImmediate(() => aborting.abort());
    expect(await failureOf(reading)).toMatchObject({ kind: 'closed' });
    expect(server.received).toHaveLength(1);
  });

  it('does not count the wait for a permit as part of the deadline', async () => {
    const server = await serverWith({ json: envelope({ id: 'o-1' }) });
    const partner = clientOf(server.url, { maxRequestsPerSecond: 2, timeoutMs: 400 });
    expect(await Promise.all([1, 2, 3].map(() => partner.placeOrder(NEW_ORDER)))).toHaveLength(3);
  });
});
