import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import type { ActivityDependencies } from '../../../src/activities/dependencies';
import { createFindOrdersActivities } from '../../../src/activities/find-orders';
import { NEWEST_SAMPLE, proveSearch } from '../../../src/activities/prove-readable';
import { createPartnerClient, type PartnerClient } from '../../../src/partner/index';
import { closeAtEnd } from '../../support/clean-up';
import { startServer } from '../../support/http-server';
import { FAST } from '../../support/settings';

const MINUTE = 60_000;
/** When the order that is looked for had been sent. */
const SENT = Date.parse('2026-01-01T12:00:00Z');

describe('a search that shows no order says something only if it would have shown one that was just placed', () => {
  const prove = async (partner: PartnerClient) => proveSearch(partner, await partner.newestOrders(NEWEST_SAMPLE), SENT);

  /** One order a minute until `newest`, of which the search knows those until `indexed`: minutes after the one looked for. */
  async function partnerThatLists(
    shape: { newest: number; indexed: number; first: 'newest' | 'oldest' },
    now = Date.now,
  ) {
    const oldestFirst = minutesUntil(shape.newest);
    const listed = shape.first === 'oldest' ? oldestFirst : oldestFirst.toReversed();
    return partnerThatShows(
      (search) => {
        const isIndexed = (minute: number) => minute <= shape.indexed && referenceOf(minute) === search;
        return search === '' ? listed : listed.filter(isIndexed);
      },
      { now },
    );
  }

  it.each(['newest', 'oldest'] as const)('it does, where the %s orders come first', async (first) => {
    const partner = await partnerThatLists({ newest: -3, indexed: 10, first });
    expect(await prove(partner)).toMatchObject({ readable: true });
  });

  it.each(['newest', 'oldest'] as const)(
    'it does not where its index lags, and the %s orders come first: that it finds old ones proves nothing',
    async (first) => {
      const partner = await partnerThatLists({ newest: -1, indexed: -10, first });
      expect(await prove(partner)).toEqual({
        readable: false,
        why: 'the search does not find an order known to exist',
      });
    },
  );

  it.each(['newest', 'oldest'] as const)(
    'it does where its index lags but has come past the order that is looked for, and the %s orders come first',
    async (first) => {
      const partner = await partnerThatLists({ newest: 5, indexed: 3, first });
      expect(await prove(partner)).toMatchObject({ readable: true });
    },
  );

  it.each([
    [9, false],
    [11, true],
  ])(
    'by the clock of the partner, which is 10 minutes ahead: an order that was placed later by ours may be older (%s min: %s)',
    async (indexed, readable) => {
      const now = () => Date.now() - 10 * MINUTE;
      const partner = await partnerThatLists({ newest: 12, indexed, first: 'newest' }, now);
      expect(await prove(partner)).toMatchObject({ readable });
    },
  );

  it('it does not where no order has a reference to search for', async () => {
    const partner = await partnerThatShows(() => []);
    expect(await prove(partner)).toEqual({
      readable: false,
      why: 'the order history is empty, which proves nothing',
    });
  });
});

describe('a search that shows no order is not believed where the list that is to prove it has the order', () => {
  /** The search has every order but the one that is looked for. */
  async function search(listed: readonly number[], rotten: object = {}) {
    const partner = await partnerThatShows(
      (text) => (text === '' ? listed : listed.filter((minute) => minute !== -1 && referenceOf(minute) === text)),
      { changed: { '-1': rotten } },
    );
    const deps = { partner, now: Date.now, settings: FAST } as unknown as ActivityDependencies;
    const input = { referenceId: referenceOf(-1), since: SENT - 2 * MINUTE, prove: true, sentBefore: SENT };
    return new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') }).run(
      createFindOrdersActivities(deps).findOrders,
      input,
    );
  }

  it.each([
    ['newest first', minutesUntil(5).toReversed()],
    ['oldest first', minutesUntil(5)],
    ['oldest first, on the last page but one', minutesUntil(4, 205)],
    ['at both ends, where it is one order', [-1, ...minutesUntil(5), -1]],
  ])('%s: the order is found', async (_, listed) => {
    expect(await search(listed)).toMatchObject({ orders: [{ id: 'ord-1' }], readable: false });
  });

  it.each([
    ["can't be read", { reference_id: null, status: null }],
    ["can't be used", { id: '../-1' }],
  ])('nor where its row %s: it shows no absence', async (why, rotten) => {
    await expect(search(minutesUntil(5).toReversed(), rotten)).rejects.toThrow(why);
  });
});

function minutesUntil(newest: number, count = 160): number[] {
  return Array.from({ length: count }, (_, index) => newest - count + 1 + index);
}

function referenceOf(minute: number): string {
  return `AT-${minute}`;
}

/** A partner whose history has an order for each minute that `find` gives, `changed` as said. */
async function partnerThatShows(
  find: (search: string) => readonly number[],
  { changed = {}, now }: { changed?: Record<string, object>; now?: () => number } = {},
): Promise<PartnerClient> {
  const server = await startServer({
    respond: ({ path }) => {
      const { searchParams } = new URL(path, 'http://partner');
      const [page, limit] = [Number(searchParams.get('page') ?? 1), Number(searchParams.get('limit'))];
      const found = find(searchParams.get('query') ?? '');
      const orders = found.slice((page - 1) * limit, page * limit).map((minute) => ({
        id: `ord${minute}`,
        reference_id: referenceOf(minute),
        status: 'PENDING',
        created_at: new Date(SENT + minute * MINUTE).toISOString(),
        ...changed[minute],
      }));
      const data = { hits: found.length, orders, pages: { page, total: Math.ceil(found.length / limit), limit } };
      return { json: { status: 200, success: true, details: { data, extensions: {} } } };
    },
  });
  const partner = createPartnerClient({ baseUrl: server.url, apiKey: () => 'key', now });
  closeAtEnd(partner.close);
  return partner;
}
