import { assessOrder, differenceOf, exactLines } from '../../../src/domain/assess-order';
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

describe('an order is compared with what was bought', () => {
  it('hands over the whole when every key is there', () => {
    expect(assessOrder(items, order('COMPLETED', { A: 2, B: 1 }))).toMatchObject({ kind: 'hand-over', whole: true });
  });

  it('is a shortfall when COMPLETED comes with keys missing, never a whole delivery', () => {
    const assessment = assessOrder(items, order('COMPLETED', { A: 1, B: 1 }));
    expect(assessment).toMatchObject({ kind: 'hand-over', whole: false, reason: 'COMPLETED with 2 of 3 keys' });
  });

  it('counts a product that the partner no longer lists as a shortfall, because others may well be there', () => {
    expect(assessOrder(items, order('PARTIAL_COMPLETED', { A: 2 }))).toMatchObject({ kind: 'hand-over', whole: false });
  });

  it.each(['FAILED', 'REFUNDED'] as const)('hands over nothing of a %s order, whatever keys it shows', (status) => {
    expect(assessOrder(items, order(status, { A: 2, B: 1 }))).toEqual({ kind: 'nothing', outcome: status });
  });

  it.each(['PENDING', 'PROCESSING', 'AWAITING_SUPPLIER', 'UNRECOGNISED'])(
    'hands over nothing while the status is %s',
    (status) => {
      expect(assessOrder(items, order(status, { A: 2, B: 1 }))).toEqual({ kind: 'open' });
    },
  );

  it('needs an operator when more keys came than were ordered, because someone else may have paid for them', () => {
    expect(assessOrder(items, order('COMPLETED', { A: 3, B: 1 })).kind).toBe('more-keys');
  });

  it('needs an operator when the order holds a product that was not ordered', () => {
    expect(assessOrder(items, order('COMPLETED', { A: 2, B: 1, C: 1 })).kind).toBe('other-items');
  });

  it('needs an operator when the order holds another quantity than was ordered', () => {
    expect(assessOrder(items, order('COMPLETED', { A: 2, B: 1 }, { A: 5, B: 1 })).kind).toBe('other-items');
  });

  it('adds up a product that the partner lists in two entries', () => {
    const snapshot = order('COMPLETED', { A: 1, B: 1 }, { A: 1, B: 1 });
    snapshot.lines.push({ productId: 'A', quantity: 1, fingerprints: ['k.more'] });
    expect(assessOrder(items, snapshot)).toMatchObject({ kind: 'hand-over', whole: true });
  });
});

describe('an order found in the history is compared with what a purchase asked for', () => {
  it('finds no difference in the same products and quantities', () => {
    expect(differenceOf(items, order('PENDING', { A: 0, B: 0 }).lines)).toBeUndefined();
  });

  it('finds no difference in an order that lists nothing yet', () => {
    expect(differenceOf(items, [])).toBeUndefined();
  });

  it('finds a difference in an order that lacks a product, so that it is not adopted', () => {
    expect(differenceOf(items, order('PENDING', { A: 0 }).lines)).toContain('does not hold B');
  });
});

describe('an order is exactly as ordered, and so the same whenever it is read,', () => {
  it('when it is COMPLETED with every key', () => {
    expect(exactLines(items, order('COMPLETED', { A: 2, B: 1 }))).toHaveLength(2);
  });

  it.each([
    ['is not COMPLETED', order('PARTIAL_COMPLETED', { A: 2, B: 1 })],
    ['lacks a key', order('COMPLETED', { A: 1, B: 1 })],
    ['holds another product', order('COMPLETED', { A: 2, B: 1, C: 1 })],
    ['is that of another purchase, too', { ...order('COMPLETED', { A: 2, B: 1 }), claimedBy: 'R-2' }],
  ])('and not when it %s', (_, snapshot) => {
    expect(exactLines(items, snapshot)).toBeUndefined();
  });
});
