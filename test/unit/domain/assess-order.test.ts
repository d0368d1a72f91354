import { differenceOf, assessOrder } from '../../../src/domain/assess-order';
import type { OrderSnapshot } from '../../../src/domain/order';

const items = [
  { productId: 'A', quantity: 2 },
  { productId: 'B', quantity: 1 },
];

function order(
  status: string,
  keys: Record<string, number>,
  quantities: Record<string, number> = { A: 2, B: 1 },
): OrderSnapshot {
  const lines = Object.entries(keys).map(([productId, count]) => ({
    productId,
    quantity: quantities[productId],
    fingerprints: Array.from({ length: count }, (_, index) => `k.${productId}${index}`),
  }));
  return { orderId: 'O-1', status, lines };
}

describe('an order is judged against what was bought', () => {
  it('hands over the whole when every key is there', () => {
    expect(assessOrder(items, order('COMPLETED', { A: 2, B: 1 }))).toMatchObject({ kind: 'hand-over', whole: true });
  });

  it('calls it a shortfall when COMPLETED comes with keys missing, never a whole delivery', () => {
    const judged = assessOrder(items, order('COMPLETED', { A: 1, B: 1 }));
    expect(judged).toMatchObject({ kind: 'hand-over', whole: false, reason: 'COMPLETED with 2 of 3 keys' });
  });

  it('counts a product that the partner no longer lists as a shortfall, because others may well be there', () => {
    expect(assessOrder(items, order('PARTIAL_COMPLETED', { A: 2 }))).toMatchObject({ kind: 'hand-over', whole: false });
  });

  it.each(['FAILED', 'REFUNDED'] as const)('hands over nothing of a %s order, whatever keys it shows', (status) => {
    expect(assessOrder(items, order(status, { A: 2, B: 1 }))).toEqual({ kind: 'nothing', outcome: status });
  });

  it.each(['PENDING', 'PROCESSING', 'AWAITING_SUPPLIER', 'UNRECOGNISED'])(
    'hands over nothing on the ground of %s',
    (status) => {
      expect(assessOrder(items, order(status, { A: 2, B: 1 }))).toEqual({ kind: 'open' });
    },
  );

  it('asks a person when more keys came than were ordered, because someone else may have paid for them', () => {
    expect(assessOrder(items, order('COMPLETED', { A: 3, B: 1 })).kind).toBe('more-keys');
  });

  it('asks a person when the order holds a product that nobody asked for', () => {
    expect(assessOrder(items, order('COMPLETED', { A: 2, B: 1, C: 1 })).kind).toBe('other-items');
  });

  it('asks a person when the order holds another quantity than was asked for', () => {
    expect(assessOrder(items, order('COMPLETED', { A: 2, B: 1 }, { A: 5, B: 1 })).kind).toBe('other-items');
  });

  it('adds up a product that the partner lists in two entries', () => {
    const view = order('COMPLETED', { A: 1, B: 1 }, { A: 1, B: 1 });
    view.lines.push({ productId: 'A', quantity: 1, fingerprints: ['k.more'] });
    expect(assessOrder(items, view)).toMatchObject({ kind: 'hand-over', whole: true });
  });
});

describe('an order that was found is compared with what was asked for', () => {
  it('finds no difference in the same products and quantities', () => {
    expect(differenceOf(items, order('PENDING', { A: 0, B: 0 }).lines)).toBeUndefined();
  });

  it('finds no difference in an order that lists nothing yet', () => {
    expect(differenceOf(items, [])).toBeUndefined();
  });

  it('does not take an order over that lacks a product', () => {
    expect(differenceOf(items, order('PENDING', { A: 0 }).lines)).toContain('does not hold B');
  });
});
