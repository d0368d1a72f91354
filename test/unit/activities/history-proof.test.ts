import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import type { ActivityDependencies } from '../../../src/activities/dependencies';
import { createFindOrdersActivities } from '../../../src/activities/find-orders';
import { createListReader, proveReadable } from '../../../src/activities/history-proof';
import type { PartnerClient } from '../../../src/partner/index';
import { type ScriptedServer, startServer } from '../../support/http-server';
import { FAST } from '../../support/settings';
import { clientOf, listServer } from '../partner/fixtures';

const MINUTE = 60_000;
/** The time at which the order we search for was sent. */
const SENT = Date.parse('2026-01-01T12:00:00Z');

describe('a search without a result proves something only if it would have shown a recent order', () => {
  async function prove({ partner }: Shown, now = Date.now) {
    const readListed = createListReader({ settings: FAST, now });
    return proveReadable(partner, await readListed(partner, SENT), SENT);
  }

  /** One order a minute up to `newest`. The search knows those up to `indexed`. Both are minutes after SENT. */
  async function partnerThatLists(
    shape: { newest: number; indexed: number; first: 'newest' | 'oldest' },
    now = Date.now,
  ) {
    const oldestFirst = minutesUntil(shape.newest);
    const listed = shape.first === 'oldest' ? oldestFirst : oldestFirst.toReversed();
    return partnerThatShows((search) => {
      const isIndexed = (minute: number) => minute <= shape.indexed && referenceOf(minute) === search;
      return search === '' ? listed : listed.filter(isIndexed);
    }, now);
  }

  const UNPROVEN = { provesAbsence: false, reason: 'the search does not find an order that is known to exist' };

  describe.each(['newest', 'oldest'] as const)('with the %s orders first', (first) => {
    it.each<[string, newest: number, indexed: number, object]>([
      ['it does if the search finds the newest order', -3, 10, { provesAbsence: true }],
      ['it does not if the index lags, because finding old orders proves nothing', -1, -10, UNPROVEN],
      ['it does if a lagging index has already passed the order we search for', 5, 3, { provesAbsence: true }],
    ])('%s', async (_, newest, indexed, expected) => {
      expect(await prove(await partnerThatLists({ newest, indexed, first }))).toMatchObject(expected);
    });
  });

  it.each([
    [9, false],
    [11, true],
  ])(
    'compares times by the partner clock, here 10 minutes ahead of ours (indexed until %s min: %s)',
    async (indexed, provesAbsence) => {
      const now = () => Date.now() - 10 * MINUTE;
      const shown = await partnerThatLists({ newest: 12, indexed, first: 'newest' }, now);
      expect(await prove(shown, now)).toMatchObject({ provesAbsence });
    },
  );

  it('it does not if no order has a reference to search for', async () => {
    const shown = await partnerThatShows(() => []);
    expect(await prove(shown)).toEqual({
      provesAbsence: false,
      reason: 'the order history is empty, which proves nothing',
    });
  });
});

describe('all purchases of a process share a reading of the list', () => {
  it('for a twentieth of the confirmation window; then the orders are read again', async () => {
    const { partner, server } = await partnerThatShows(() => minutesUntil(-1, 3).toReversed());
    let time = 0;
    const readListed = createListReader({ settings: { ...FAST, confirmWindowMs: 60_000 }, now: () => time });
    await Promise.all(Array.from({ length: 20 }, () => readListed(partner, SENT)));
    time = 2_999;
    await readListed(partner, SENT);
    // One request for the list, one search for its newest order.
    expect(server.received).toHaveLength(2);
    time = 3_000;
    await readListed(partner, SENT);
    expect(server.received).toHaveLength(4);
  });

  it('but not for long if the worker has a long window, because a purchase may have started with a short one', async () => {
    const { partner, server } = await partnerThatShows(() => minutesUntil(-1, 3).toReversed());
    let time = 0;
    const readListed = createListReader({ settings: { ...FAST, confirmWindowMs: 3_600_000 }, now: () => time });
    await readListed(partner, SENT);
    time = 3_000;
    await readListed(partner, SENT);
    expect(server.received).toHaveLength(4);
  });

  it('if they started in the same ten minutes', async () => {
    const now = () => SENT;
    const { partner } = await partnerThatShows(() => minutesUntil(0, 2_000).toReversed(), now);
    const readListed = createListReader({ settings: FAST, now });
    const [short, long] = [await readListed(partner, SENT), await readListed(partner, SENT - 1_500 * MINUTE)];
    expect([short.rows.length, long.rows.length]).toEqual([1_000, 2_000]);
    expect(await readListed(partner, SENT)).toBe(short);
    expect(await readListed(partner, SENT - 1_499 * MINUTE)).toBe(long);
  });

  it('unless they could not be read: a failure is never shared', async () => {
    const { partner } = await partnerThatShows(() => minutesUntil(-1, 3).toReversed());
    const readListed = createListReader({ settings: FAST, now: () => 0 });
    const away = clientOf((await startServer()).url);
    await expect(readListed(away, SENT)).rejects.toThrow('500');
    expect(await readListed(partner, SENT)).toMatchObject({ newestIsFound: true });
  });
});

describe('an empty search result is not believed if the list that should prove it contains the order', () => {
  /** Searches at a partner whose search finds every order except ours. */
  async function search(listed: readonly number[], rotten: object = {}) {
    const { partner } = await partnerThatShows(
      (text) => (text === '' ? listed : listed.filter((minute) => minute !== -1 && referenceOf(minute) === text)),
      Date.now,
      { '-1': rotten },
    );
    const deps = { partner, now: Date.now, settings: FAST } as unknown as ActivityDependencies;
    const limits = {
      purchaseStartedAt: SENT - 2 * MINUTE,
      prove: true,
      sentBefore: SENT,
      requestMayHaveBeenSent: true,
    };
    const environment = new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') });
    const { findOrders } = createFindOrdersActivities(deps);
    return environment.run(findOrders, { referenceId: referenceOf(-1), ...limits });
  }

  it.each([
    ['newest first', minutesUntil(5).toReversed()],
    ['oldest first', minutesUntil(5)],
    ['behind 700 newer orders', minutesUntil(700, 900).toReversed()],
    ['before 700 newer orders', minutesUntil(700, 3_000)],
    ['at both ends, and counted as one order', [-1, ...minutesUntil(5), -1]],
    ['at the end of a list of at most 500 orders', minutesUntil(498, 500).toReversed()],
  ])('%s: the order is found', async (_, listed) => {
    expect(await search(listed)).toMatchObject({ orders: [{ id: 'ord-1' }], provesAbsence: false });
  });

  it('which proves nothing if it ends with a full page, because older orders may be hidden', async () => {
    const listed = minutesUntil(900, 500);
    await expect(search(listed.toReversed())).rejects.toThrow('end with a full one');
    const absent = { orders: [], provesAbsence: true };
    expect(await search(listed.toReversed().slice(1))).toMatchObject(absent);
    expect(await search(listed)).toMatchObject(absent);
  });

  it.each([
    ["can't be read", { reference_id: null, status: null }],
    ["can't be used", { id: '../-1' }],
  ])('or a row that %s, which never proves absence', async (reason, rotten) => {
    await expect(search(minutesUntil(5).toReversed(), rotten)).rejects.toThrow(reason);
  });
});

function minutesUntil(newest: number, count = 160): number[] {
  return Array.from({ length: count }, (_, index) => newest - count + 1 + index);
}

function referenceOf(minute: number): string {
  return `AT-${minute}`;
}

interface Shown {
  partner: PartnerClient;
  server: ScriptedServer;
}

/** A partner whose history has an order, with `changed` fields, for each minute that `find` returns. */
async function partnerThatShows(
  find: (search: string) => readonly number[],
  now = Date.now,
  changed: Record<string, object> = {},
): Promise<Shown> {
  const server = await listServer('orders', (search) =>
    find(search).map((minute) => ({
      id: `ord${minute}`,
      reference_id: referenceOf(minute),
      status: 'PENDING',
      created_at: new Date(SENT + minute * MINUTE).toISOString(),
      ...changed[minute],
    })),
  );
  return { partner: clientOf(server.url, { now }), server };
}
