import { proveSearch } from '../../../src/activities/prove-readable';
import { createPartnerClient, type PartnerClient } from '../../../src/partner/index';
import { closeAtEnd } from '../../support/clean-up';
import { startServer } from '../../support/http-server';

const MINUTE = 60_000;
/** When the order that is looked for had been sent. */
const SENT = Date.parse('2026-01-01T12:00:00Z');

describe('a search that shows no order says something only if it would have shown one that was just placed', () => {
  /** One order a minute until `newest`, of which the search knows those until `indexed`: minutes after the one looked for. */
  async function partnerThatLists(shape: { newest: number; indexed: number; first: 'newest' | 'oldest' }) {
    const oldestFirst = Array.from({ length: 60 }, (_, index) => shape.newest - 59 + index);
    const listed = shape.first === 'oldest' ? oldestFirst : oldestFirst.toReversed();
    return partnerThatShows((search) => {
      const isIndexed = (minute: number) => minute <= shape.indexed && referenceOf(minute) === search;
      return search === '' ? listed : listed.filter(isIndexed);
    });
  }

  it.each(['newest', 'oldest'] as const)('it does, where the %s orders come first', async (first) => {
    const partner = await partnerThatLists({ newest: -3, indexed: 10, first });
    expect(await proveSearch(partner, SENT)).toMatchObject({ readable: true });
  });

  it.each(['newest', 'oldest'] as const)(
    'it does not where its index lags, and the %s orders come first: that it finds old ones proves nothing',
    async (first) => {
      const partner = await partnerThatLists({ newest: -1, indexed: -10, first });
      expect(await proveSearch(partner, SENT)).toEqual({
        readable: false,
        why: 'the search does not find an order known to exist',
      });
    },
  );

  it.each(['newest', 'oldest'] as const)(
    'it does where its index lags but has come past the order that is looked for, and the %s orders come first',
    async (first) => {
      const partner = await partnerThatLists({ newest: 5, indexed: 3, first });
      expect(await proveSearch(partner, SENT)).toMatchObject({ readable: true });
    },
  );

  it('it does not where no order has a reference to search for', async () => {
    const partner = await partnerThatShows(() => []);
    expect(await proveSearch(partner, SENT)).toEqual({
      readable: false,
      why: 'the order history is empty, which proves nothing',
    });
  });
});

function referenceOf(minute: number): string {
  return `AT-${minute}`;
}

/** A partner whose history has an order for each minute that `find` gives. */
async function partnerThatShows(find: (search: string) => readonly number[]): Promise<PartnerClient> {
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
      }));
      const data = { hits: found.length, orders, pages: { page, total: Math.ceil(found.length / limit), limit } };
      return { json: { status: 200, success: true, details: { data, extensions: {} } } };
    },
  });
  const partner = createPartnerClient({ baseUrl: server.url, apiKey: () => 'key' });
  closeAtEnd(partner.close);
  return partner;
}
