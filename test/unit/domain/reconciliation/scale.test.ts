import { reconcile } from '../../../../src/domain/reconciliation/reconcile';
import { indexRecords, type KnownPurchase, type PartnerOrder } from '../../../../src/domain/reconciliation/records';
import { totalsOf } from '../../../../src/report/report';
import { NIGHT, order, plant, PLANTS, purchase, WELL } from './generated-records';

type Records = Pick<ReturnType<typeof plant>, 'orders' | 'purchases'>;

const SHAPES: Record<string, (size: number) => Records> = {
  'findings of all kinds': (size) => plant([...Object.values(PLANTS), ...Object.values(WELL)], size),
  'all orders under one reference': (size) => ({
    orders: many(size, (i) => order(i, { referenceId: 'REF-0' })),
    purchases: [purchase('0')],
  }),
  'no order with a reference': (size) => ({
    orders: many(size, (i) => order(i, { referenceId: undefined })),
    purchases: many(size, (i) => purchase(i)),
  }),
  'all purchases naming one order': (size) => ({
    orders: [order('0')],
    purchases: many(size, (i) => purchase(i, { orderId: 'ord-0' })),
  }),
  'one key in all purchases': (size) => ({
    orders: many(size, (i) => order(i)),
    purchases: many(size, (i) => purchase(i, { keyIds: { 'card-50': ['k.same', `k.${i}`] } })),
  }),
};

/*
 * Times say little on a shared machine, so field reads are counted. A search through a list inside a loop reads each record as
 * often as there are others.
 */
describe('the work of a reconciliation', () => {
  it.each(Object.entries(SHAPES))('grows with the records and not with their square: %s', (_, shape) => {
    const [few, more] = [readsOf(shape(300)), readsOf(shape(3_000))];
    // Sorting the orders of one reference by age is the one thing that is not quite linear.
    expect(more / few).toBeLessThan(10 * 1.6);
    expect(few).toBeGreaterThan(300);
  });
});

function many<T>(size: number, make: (name: string) => T): T[] {
  return Array.from({ length: size }, (_, i) => make(String(i)));
}

/** How often a field of an order or a purchase is read. */
function readsOf({ orders, purchases }: Records): number {
  let reads = 0;
  const watched = <T extends object>(record: T): T =>
    new Proxy(record, {
      get(target, name, receiver) {
        reads += 1;
        return Reflect.get(target, name, receiver) as unknown;
      },
    });
  const watchedOrders: PartnerOrder[] = orders.map(watched);
  const watchedPurchases: KnownPurchase[] = purchases.map(watched);
  const records = indexRecords(watchedOrders, watchedPurchases);
  reconcile(records, NIGHT);
  totalsOf(records, { dayOf: () => '2026-01-01', hourOf: () => 0 });
  return reads;
}
