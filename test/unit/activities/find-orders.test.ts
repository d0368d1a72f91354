import { MockActivityEnvironment } from '@temporalio/testing';
import fc from 'fast-check';
import { findByReference } from '../../../src/activities/find-orders';
import type { PartnerClient } from '../../../src/partner/index';
import type { PurchaseReader } from '../../../src/temporal/client/index';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../../sandbox/index';
import { closeAtEnd } from '../../support/clean-up';
import { startServer } from '../../support/http-server';
import { clientOf, envelope, listServer, orderData, pageOf } from '../partner/fixtures';

const HOUR = 3_600_000;
const OURS = { referenceId: 'REF-1', items: [{ id: 'demo-never', quantity: 1 }] };

/** Searches for the order of a request that may have been sent. */
function find(
  partner: PartnerClient,
  since: number,
  {
    referenceId = 'REF-1',
    requestMayHaveBeenSent = true,
    now = Date.now,
    purchases = [] as string[],
    /** Of each of the purchases. */
    orderId = undefined as string | undefined,
    /** The start of the first execution of the reference, for an execution that may not be the first. */
    first = undefined as { start: number | undefined } | undefined,
    /** The order that an earlier run recorded. */
    recorded = undefined as string | undefined,
  } = {},
) {
  const describeIfKnown = (wanted: string) => Promise.resolve(purchases.includes(wanted) ? {} : undefined);
  const recordedOrderId = () => Promise.resolve(orderId);
  const runsInTime = () =>
    first?.start === undefined
      ? Promise.reject(new Error('no list'))
      : Promise.resolve([{ startTime: new Date(first.start) }]);
  const orderOfOtherRun = () => Promise.resolve(recorded);
  const purchaseReader = { describeIfKnown, recordedOrderId, runsInTime, orderOfOtherRun };
  const deps = { now, purchases: purchaseReader as unknown as PurchaseReader };
  const mayHaveEarlierRun = first !== undefined;
  const wanted = { referenceId, purchaseStartedAt: since, requestMayHaveBeenSent, mayHaveEarlierRun };
  const environment = new MockActivityEnvironment();
  return environment.run((): ReturnType<typeof findByReference> =>
    findByReference(partner, wanted, deps),
  ) as ReturnType<typeof findByReference>;
}

describe('finding an order in the history, however good or bad its search is', () => {
  async function partnerWith(options: SandboxOptions): Promise<{ sandbox: Sandbox; partner: PartnerClient }> {
    const sandbox = await startSandbox(options);
    closeAtEnd(sandbox.close);
    return { sandbox, partner: clientOf(sandbox.url, { apiKey: () => 'sandbox-key' }) };
  }

  it('reads no further back than the start of the purchase', async () => {
    const { sandbox, partner } = await partnerWith({ search: 'ignored' });
    sandbox.addPastOrders({ count: 5_000 });

    expect((await find(partner, Date.now())).orders).toEqual([]);
    expect(sandbox.requests().orders).toBeLessThanOrEqual(3);
  });

  it('reads back to the first execution of the reference, whose order a later one must not place again', async () => {
    const { sandbox, partner } = await partnerWith({ search: 'ignored' });
    const createdAt = new Date(Date.now() - 3 * HOUR).toISOString();
    const ours = await sandbox.placeManualOrder({ ...OURS, createdAt });
    sandbox.addPastOrders({ count: 20_000, days: 1, endsBeforeMs: HOUR / 2 });
    const now = Date.now();
    expect((await find(partner, now)).orders).toEqual([]);

    const { orders } = await find(partner, now, { first: { start: now - 4 * HOUR } });
    expect(orders.map(({ id }) => id)).toEqual([ours.id]);
  });

  it('reads nothing while it is unknown when the first execution started, unless a search shows orders of any age', async () => {
    const { sandbox, partner } = await partnerWith({ search: 'ignored' });
    sandbox.addPastOrders({ count: 3 });
    const search = find(partner, Date.now(), { first: { start: undefined } });
    await expect(search).rejects.toThrow('Temporal could not list');

    const searchable = await partnerWith({});
    const ours = await searchable.sandbox.placeManualOrder(OURS);
    const { orders } = await find(searchable.partner, Date.now(), { first: { start: undefined } });
    expect(orders.map(({ id }) => id)).toEqual([ours.id]);
  });

  it.each([
    ['newest', -5],
    ['newest', 5],
    ['oldest', -5],
    ['oldest', 5],
  ] as const)(
    'finds an order behind 1,200 newer ones, %s first, although the clock of the partner is off by %i h',
    async (historyOrder, hours) => {
      const since = Date.now();
      let now = since;
      const { sandbox, partner } = await partnerWith({
        search: 'ignored',
        historyOrder,
        now: () => now + hours * HOUR,
      });
      sandbox.addPastOrders({ count: 2_000 });
      now += 1_000;
      const ours = await sandbox.placeManualOrder(OURS);
      for (let at = 0; at < 1_200; at++) {
        now += 20;
        await sandbox.placeManualOrder({ ...OURS, referenceId: `NEWER-${at}` });
      }

      const { orders } = await find(partner, since, { now: () => now });
      expect(orders.map(({ id }) => id)).toEqual([ours.id]);
      expect(sandbox.requests().orders).toBeLessThanOrEqual(7);
    },
  );

  it('finds the order at any position, in either sort order, while other orders arrive between the pages', async () => {
    const { sandbox, partner } = await partnerWith({ search: 'ignored' });
    const since = Date.now() - 30 * 24 * HOUR;
    sandbox.addPastOrders({ count: 1_100, days: 25 });
    // Otherwise the list may seem to be cut off.
    sandbox.addPastOrders({ count: 1, endsBeforeMs: 90 * 24 * HOUR });
    const lies = fc.record({
      daysAgo: fc.double({ min: 0, max: 19.9, noNaN: true }),
      historyOrder: fc.constantFrom('newest' as const, 'oldest' as const),
      historyShift: fc.integer({ min: 0, max: 60 }),
    });
    let count = 0;
    await fc.assert(
      fc.asyncProperty(lies, async ({ daysAgo, historyOrder, historyShift }) => {
        const referenceId = `LIES-${++count}`;
        const createdAt = new Date(Date.now() - daysAgo * 24 * HOUR).toISOString();
        const ours = await sandbox.placeManualOrder({ ...OURS, referenceId, createdAt });
        sandbox.settings({ historyOrder, historyShift });
        const { orders } = await find(partner, since, { referenceId });
        expect(orders.map(({ id }) => id)).toEqual([ours.id]);
      }),
      { numRuns: 15 },
    );
  });

  it('finds the order in a list that hides others, but takes none for absent', async () => {
    const { sandbox, partner } = await partnerWith({ search: 'ignored' });
    const ours = await sandbox.placeManualOrder(OURS);
    sandbox.addPastOrders({ count: 499, endsBeforeMs: 0, days: 1 });
    const since = Date.now() - 7 * 24 * HOUR;
    expect((await find(partner, since)).orders.map(({ id }) => id)).toEqual([ours.id]);
    const absent = { referenceId: 'REF-2' };
    await expect(find(partner, since, absent)).rejects.toMatchObject({ kind: 'incomplete' });
    // Before the first request there is nothing to be unsure of.
    expect(await find(partner, since, { ...absent, requestMayHaveBeenSent: false })).toMatchObject({ orders: [] });
    const afterAReset = { ...absent, requestMayHaveBeenSent: false, first: { start: since } };
    await expect(find(partner, since, afterAReset)).rejects.toMatchObject({ kind: 'incomplete' });

    // An order that costs nothing says nothing about another one that does.
    await sandbox.changeOrder(ours.id, { status: 'REFUNDED' });
    await expect(find(partner, since)).rejects.toMatchObject({ kind: 'incomplete' });
  });

  it.each(['exact', 'fuzzy', 'ignored'] as const)(
    'never mistakes the order of REF-10 or ref-1 for one of REF-1 if the search is %s',
    async (search) => {
      const { sandbox, partner } = await partnerWith({ search });
      for (const referenceId of ['REF-10', 'ref-1', 'XREF-1']) await sandbox.placeManualOrder({ ...OURS, referenceId });

      expect((await find(partner, Date.now() - HOUR)).orders).toEqual([]);
      const ours = await sandbox.placeManualOrder(OURS);
      expect((await find(partner, Date.now() - HOUR)).orders.map(({ id }) => id)).toEqual([ours.id]);
    },
  );

  it('returns no unchecked text from a row, because a status can contain a key and an id can contain a path', async () => {
    const orders = [{ ...row('REF-1', 'ord-1'), status: 'KEY 1234' }, { ...row('REF-1', '../../admin') }];
    const partner = await partnerThatShows(orders);

    expect(await find(partner, 0)).toMatchObject({
      orders: [{ id: 'ord-1', status: 'UNRECOGNISED', createdAt: '2026-01-01T00:00:00.000Z' }],
      unclear: expect.stringContaining("can't be used"),
    });
  });

  it.each<[string, string, string]>([
    ['in another case', 'REF-1', 'ref-1'],
    ['cut', 'a-reference-of-more-than-32-characters', 'a-reference-of-m'],
    ['with other separators', 'shop:2026:1', 'shop-2026-1'],
    ['without separators', 'shop.2026.2', 'shop20262'],
    ['with a prefix', 'acme-77', 'acct12/acme-77'],
  ])(
    'an order whose reference is ours %s rules out "absent" once a request may have been sent, unless a purchase has it',
    async (_, wanted, shown) => {
      const partner = await partnerThatShows([row(shown)]);
      const isUnclear = async (requestMayHaveBeenSent: boolean, purchases: string[] = [], orderId?: string) => {
        const found = await find(partner, 0, { referenceId: wanted, requestMayHaveBeenSent, purchases, orderId });
        expect(found.orders).toEqual([]);
        return found.unclear?.includes('similar to this one') ?? false;
      };
      const isReference = !/[^\w:.-]/.test(shown);
      expect([await isUnclear(true), await isUnclear(false)]).toEqual([true, false]);
      expect(await isUnclear(true, [shown], `ord-of-${shown}`)).toBe(!isReference);
      // The partner may have cut our reference to exactly that of another purchase, which has another order or none.
      expect(await isUnclear(true, [shown], 'another-order')).toBe(true);
      expect(await isUnclear(true, [shown])).toBe(true);
    },
  );

  it.each<[string, string, string, createdAt: string]>([
    ['is older than the purchase', 'REF-1', 'ref-1', '2025-12-01T00:00:00Z'],
    ['shares only a few characters with ours', 'SALE-12', 'SALE-1', '2026-01-01T00:01:00Z'],
    ['continues differently', 'SALE-2026-12', 'SALE-2026-13', '2026-01-01T00:01:00Z'],
    ['continues ours', 'SALE-2026-1', 'SALE-2026-12', '2026-01-01T00:01:00Z'],
  ])('an order with another reference does not rule out "absent" if it %s', async (_, wanted, shown, created_at) => {
    const since = Date.parse('2026-01-01T00:00:00Z');
    const partner = await partnerThatShows([
      { ...row(shown), created_at },
      { ...row('NEWER', 'o-2'), created_at: new Date(since + HOUR / 2).toISOString() },
    ]);
    const found = await find(partner, since, { referenceId: wanted, now: () => since + HOUR });
    expect(found).toMatchObject({ orders: [], unclear: undefined });
  });

  it('an order from long before the purchase does not rule out "absent", even if a search shows no newer one', async () => {
    const since = Date.parse('2026-01-10T00:00:00Z');
    const old = { ...row('WEB-100001'), created_at: '2025-01-10T00:00:00Z' };
    for (const orders of [
      [old],
      [{ ...old, id: 'o-100001', reference_id: null }],
      [{ ...old, status: null, reference_id: null }],
    ]) {
      const found = await find(await partnerThatShows(orders), since, {
        referenceId: '100001',
        now: () => since + HOUR,
      });
      expect(found).toMatchObject({ orders: [], unclear: undefined, how: 'search' });
    }
  });

  it.each([
    ['000123456', 123_456],
    ['SALE-77', 0],
  ])(
    'a reference that the partner writes as a number may be %s, so it rules out "absent"',
    async (referenceId, reference_id) => {
      const partner = await partnerThatShows([{ ...row('x', 'o-1'), reference_id }]);
      expect((await find(partner, 0, { referenceId })).unclear).toContain("can't be read");
    },
  );

  it.each<[string, reference: null | string, hoursAfterTheStart: number, rulesOut: boolean]>([
    ['null', null, 0.01, true],
    ['blank', ' ', 0.01, true],
    ['null, long before the purchase', null, -9, false],
  ])(
    'a readable order whose reference is %s rules out "absent" if it may be our order',
    async (_, reference, hours, rulesOut) => {
      const since = Date.parse('2026-01-10T00:00:00Z');
      const created_at = new Date(since + hours * HOUR).toISOString();
      const partner = await partnerThatShows([
        { ...row('NEWER', 'o-2'), created_at: new Date(since + HOUR / 2).toISOString() },
        { ...row('x', 'o-1'), reference_id: reference, created_at },
      ]);
      const isUnclear = async (requestMayHaveBeenSent: boolean) =>
        (await find(partner, since, { requestMayHaveBeenSent, now: () => since + HOUR })).unclear !== undefined;
      expect([await isUnclear(true), await isUnclear(false)]).toEqual([rulesOut, false]);
    },
  );

  const ROTTEN = { status: null };
  it.each<[string, unknown[], afterARequest: boolean, beforeTheFirst: boolean]>([
    ['a row of this reference', [{ ...row('REF-1'), ...ROTTEN }], true, true],
    ['a row without a reference that the search returned', [null], true, false],
    ['a row of another reference', [{ ...row('REF-2'), ...ROTTEN }], false, false],
    ['a row next to the order we want', [row('REF-1'), { ...row('REF-1', 'o-2'), ...ROTTEN }], false, false],
    ['a row without a reference that may be as recent as the purchase', [null, row('OTHER', 'o-1')], true, false],
    [
      'a row without a reference among older rows',
      [row('A', 'o-1', 9), row('B', 'o-2', 8), null, row('C', 'o-3', 7)],
      false,
      false,
    ],
    ['a row without a reference next to the newest one', [row('A', 'o-1', 9), null, row('C', 'o-3', 7)], true, false],
  ])(
    'an unreadable row rules out "absent" if it may be our order, but a bad row does not block a first request: %s',
    async (_, orders, afterARequest, beforeTheFirst) => {
      const partner = await partnerThatShows(orders);
      const since = Date.parse('2026-01-10T00:00:00Z');
      const isUnclear = async (requestMayHaveBeenSent: boolean) => {
        const { unclear } = await find(partner, since, { requestMayHaveBeenSent, now: () => since + 60_000 });
        if (unclear !== undefined) expect(unclear).toContain("can't be read");
        return unclear !== undefined;
      };
      expect([await isUnclear(true), await isUnclear(false)]).toEqual([afterARequest, beforeTheFirst]);
    },
  );

  it.each([
    [['FAILED', 'COMPLETED'], 'MIXED'],
    [['COMPLETED', 'REFUNDED', 'REFUNDED'], 'MIXED'],
    [['COMPLETED', 'PENDING'], 'COMPLETED'],
    [['FAILED', 'REFUNDED'], 'FAILED'],
  ])('takes an order with the rows %j for one that is %s', async (statuses, status) => {
    const partner = await partnerThatShows(statuses.map((one) => ({ ...row('REF-1', 'o-1'), status: one })));
    expect(await find(partner, 0)).toMatchObject({ orders: [{ id: 'o-1', status }] });
  });

  const UNCLEAR = 'an earlier run recorded the order o-2, but the order history shows only others with this reference';
  it.each([
    ['first if it has the reference', 'REF-1', 'PENDING', ['o-2', 'o-1', 'o-3'], undefined],
    ['first if it is hidden, but costs nothing', 'hidden', 'FAILED', ['o-2', 'o-1', 'o-3'], undefined],
    ['not at all if the partner does not know it', 'hidden', undefined, ['o-1', 'o-3'], undefined],
    ['first if it is hidden, but then an operator must decide', 'hidden', 'PENDING', ['o-2', 'o-1', 'o-3'], UNCLEAR],
  ])('of several orders, shows the one that an earlier run recorded %s', async (_, shownAs, status, ids, unclear) => {
    const others = [row('REF-1', 'o-1', 1), row('REF-1', 'o-3', 3)];
    const rows = shownAs === 'hidden' ? others : [...others, row(shownAs, 'o-2', 2)];
    const known = status === undefined ? { status: 404 } : { json: envelope(orderData('o-2', { status })) };
    const respond = ({ path }: { path: string }) =>
      path.includes('/keys') ? known : pageOf('orders', path, () => rows);
    const server = await startServer({ respond });
    const found = await find(clientOf(server.url), 0, { first: { start: 0 }, recorded: 'o-2' });
    expect({ ids: found.orders.map(({ id }) => id), unclear: found.unclear }).toEqual({ ids, unclear });
  });

  it('chooses none of several orders while it is unknown which of them an earlier run recorded', async () => {
    const partner = await partnerThatShows([row('REF-1', 'o-1'), row('REF-1', 'o-2')]);
    const { unclear } = await find(partner, 0, { first: { start: undefined } });
    expect(unclear).toContain('Temporal could not list');
  });

  it('returns at most 100 orders of one reference, first the oldest that cost money', async () => {
    const orders = Array.from({ length: 450 }, (_, at) => ({
      ...row('REF-1', `o-${at}`),
      status: at < 200 ? 'FAILED' : 'COMPLETED',
    }));
    const partner = await partnerThatShows(orders);
    const found = await find(partner, 0);
    expect(found.orders).toHaveLength(100);
    expect(found.orders[0]).toMatchObject({ id: 'o-200' });
  });

  async function partnerThatShows(orders: unknown[]) {
    return clientOf((await listServer('orders', () => orders)).url);
  }
});

function row(reference_id: string, id = `ord-of-${reference_id}`, day = 1) {
  return { id, reference_id, status: 'PENDING', item: {}, created_at: `2026-01-0${day}T00:00:00.000Z` };
}
