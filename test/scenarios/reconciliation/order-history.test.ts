import { readOrderHistory } from '../../../src/activities/reconcile/order-history';
import type { Progress } from '../../../src/activities/progress';
import { createPartnerClient, type PartnerClient } from '../../../src/partner/index';
import { type Sandbox, startSandbox } from '../../../sandbox/index';
import { closeAtEnd } from '../../support/clean-up';
import { startServer } from '../../support/http-server';

const DAY = 24 * 3_600_000;
const COUNT = 20_000;
const PAGES = COUNT / 500;

const quiet: Progress = { show: () => undefined, signal: new AbortController().signal, close: () => undefined };

describe('reading the order history', () => {
  async function partnerWith(order: 'newest' | 'oldest', count = COUNT): Promise<[Sandbox, PartnerClient]> {
    const sandbox = await startSandbox({ historyOrder: order });
    sandbox.addPastOrders({ count, days: 3 });
    const partner = createPartnerClient({ baseUrl: sandbox.url, apiKey: () => 'sandbox-key' });
    closeAtEnd(sandbox.close);
    closeAtEnd(partner.close);
    return [sandbox, partner];
  }

  it.each(['newest', 'oldest'] as const)(
    'reads 20,000 orders, each once, with no more requests than there are pages and one in twenty, %s first',
    async (order) => {
      const [sandbox, partner] = await partnerWith(order);

      const { orders } = await readOrderHistory(partner, 0, quiet);

      expect(orders).toHaveLength(COUNT);
      expect(new Set(orders.map(({ referenceId }) => referenceId)).size).toBe(COUNT);
      expect(sandbox.requests().orders).toBeLessThanOrEqual(PAGES * 1.05);
    },
  );

  it.each(['newest', 'oldest'] as const)('reads no further than it has to, %s first', async (order) => {
    const [sandbox, partner] = await partnerWith(order);
    const from = Date.now() - DAY;

    const { orders } = await readOrderHistory(partner, from, quiet);

    const all = await sandbox.ledger();
    const young = all.references.flatMap(({ orders: own }) => own).filter((own) => Date.parse(own.createdAt) >= from);
    const read = new Set(orders.map(({ id }) => id));
    expect(young.filter(({ id }) => !read.has(id))).toEqual([]);
    expect(sandbox.requests().orders).toBeLessThanOrEqual(Math.ceil(young.length / 500) + 2);
  });

  it.each(['newest', 'oldest'] as const)(
    'misses none and reads none twice while orders come in at every page, and asks for none again, %s first',
    async (order) => {
      const [sandbox, partner] = await partnerWith(order);
      sandbox.settings({ historyShift: 20 });

      const { orders } = await readOrderHistory(partner, 0, quiet);

      const past = orders.filter(({ referenceId }) => referenceId?.startsWith('past-'));
      expect(past).toHaveLength(COUNT);
      expect(new Set(orders.map(({ id }) => id)).size).toBe(orders.length);
      expect(sandbox.requests().orders).toBeLessThanOrEqual(Math.ceil((COUNT + 43 * 20) / 500) * 1.05);
    },
  );

  it('reads a history of one page, and one without orders, with one request', async () => {
    const [sandbox, partner] = await partnerWith('newest', 12);
    expect((await readOrderHistory(partner, 0, quiet)).orders).toHaveLength(12);
    expect(sandbox.requests().orders).toBe(1);
    const empty = await startSandbox();
    const nobody = createPartnerClient({ baseUrl: empty.url, apiKey: () => 'sandbox-key' });
    closeAtEnd(empty.close);
    closeAtEnd(nobody.close);
    expect(await readOrderHistory(nobody, 0, quiet)).toEqual({ orders: [], unreadable: [] });
    expect(empty.requests().orders).toBe(1);
  });

  it('asks again where the partner fails in the middle, and does not begin again for that', async () => {
    const [sandbox, partner] = await partnerWith('newest');
    const fault = sandbox.addFault({ operation: 'orders', nth: 7, times: 2, action: { type: 'answer', status: 503 } });

    expect((await readOrderHistory(partner, 0, quiet)).orders).toHaveLength(COUNT);

    expect(fault.hits).toBe(2);
    expect(sandbox.requests().orders).toBeLessThanOrEqual(PAGES * 1.05 + 2);
  });

  it('gives up where the partner keeps failing: half a history is none', async () => {
    const [sandbox, partner] = await partnerWith('newest');
    sandbox.addFault({ operation: 'orders', nth: 7, times: 'always', action: { type: 'answer', status: 503 } });

    await expect(readOrderHistory(partner, 0, quiet)).rejects.toMatchObject({ kind: 'status' });
  });

  describe('of a partner with habits of its own', () => {
    interface Row {
      id: string;
      reference_id: string;
      status: string;
      item: object;
      created_at: string;
    }

    const NOW = Date.parse('2026-03-01T00:00:00Z');

    function rowsOf(count: number, ageOf: (index: number) => number): Row[] {
      return Array.from({ length: count }, (_, index) => ({
        id: `o-${index}`,
        reference_id: `R-${index}`,
        status: 'COMPLETED',
        item: { id: 'p', title: 'P', quantity: 1, amount: 1.5 },
        created_at: new Date(NOW - ageOf(index)).toISOString(),
      }));
    }

    /** Serves the rows, but not the hidden one; `onPage` may change them after a page has been shown. */
    async function serving(rows: Row[], onPage: (requests: number) => void = () => undefined, hidden?: string) {
      const server = await startServer({
        respond: ({ path }) => {
          const query = new URL(path, 'http://partner').searchParams;
          const [page, limit] = [Number(query.get('page')), Number(query.get('limit'))];
          const total = Math.ceil(rows.length / limit);
          const data = {
            hits: rows.length,
            orders: rows.slice((page - 1) * limit, page * limit).filter(({ id }) => id !== hidden),
            pages: { page, total, limit },
          };
          onPage(server.received.length);
          const extensions = { trace_id: 't', timestamp: '2026-03-01T00:00:00.000Z', cache: 'no-store' };
          return { json: { status: 200, success: true, details: { data, extensions } } };
        },
      });
      const partner = createPartnerClient({ baseUrl: server.url, apiKey: () => 'key' });
      closeAtEnd(partner.close);
      return { server, partner };
    }

    it('reads a list in no order whole: an old order at its beginning does not end it', async () => {
      const rows = rowsOf(2_000, (index) => ((index * 7_919) % 2_000) * 60_000);
      const { partner } = await serving(rows);

      const { orders } = await readOrderHistory(partner, NOW - 3_600_000, quiet);

      expect(new Set(orders.map(({ id }) => id)).size).toBe(2_000);
    });

    it('reads all again when orders went while it read, for others then moved to pages read before', async () => {
      const rows = rowsOf(3_000, (index) => index * 60_000);
      const all = rows.map(({ id }) => id);
      const gone: string[] = [];
      const { partner } = await serving(rows, (requests) => {
        if (requests === 4) gone.push(...rows.splice(0, 30).map(({ id }) => id));
      });

      const { orders } = await readOrderHistory(partner, 0, quiet);

      const read = new Set(orders.map(({ id }) => id));
      expect(all.filter((id) => !read.has(id) && !gone.includes(id))).toEqual([]);
      expect(read.size).toBe(orders.length);
    });

    it('refuses pages that hold fewer orders than the partner counts, rather than call them missing', async () => {
      const rows = rowsOf(1_600, (index) => index * 60_000);
      const { partner } = await serving(rows, undefined, 'o-700');

      await expect(readOrderHistory(partner, 0, quiet)).rejects.toMatchObject({ kind: 'incomplete' });
    });
  });
});
