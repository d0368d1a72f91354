import fc from 'fast-check';
import { type Accepted, type Review, reviewOrder } from '../../../src/domain/review-order';
import type { OrderLine, OrderSnapshot } from '../../../src/domain/order';
import { keysIn, line } from './orders';

const items = [
  { productId: 'A', quantity: 2 },
  { productId: 'B', quantity: 1 },
];
const WHOLE = [line('A', 'ab', 2), line('B', 'c', 1)];
const EMPTY = [line('A', '', 2), line('B', '', 1)];

const orderOf = (status: string, lines: OrderLine[], claimedBy?: string): OrderSnapshot => ({
  orderId: 'O-1',
  status,
  lines,
  claimedBy,
});

function summarize(review: Review): string {
  switch (review.kind) {
    case 'issue':
      return `${review.issue.reason}: ${review.issue.explanation}`;
    case 'ended':
      return review.outcome;
    case 'open':
      return 'open';
    case 'deliver':
      return `${keysIn(review.lines)}, ${review.ordered} ordered${review.whole ? '' : `: ${review.reason}`}`;
  }
}

const TWO_OF_3 = 'COMPLETED with 2 of 3 keys';
const TOO_MANY = 'MORE_KEYS_THAN_ORDERED: the order contains 3 keys of A; ordered: 2';
const OTHER = 'OTHER_ITEMS: the order contains';
const SHORT = [line('A', 'a', 2), line('B', 'c', 1)];
const NO_B = [line('A', 'ab', 2)];
const SPLIT = [line('A', 'a', 1), line('B', 'c', 1), line('A', 'b', 1)];
const SURPLUS = [line('A', 'abx', 2), line('B', 'c', 1)];
const FEWER = [line('A', '', 1), line('B', '', 1)];
const WITH_C = [...WHOLE, line('C', 'x', 1)];
const FIVE = [line('A', 'ab', 5), line('B', 'c', 1)];

describe('an order that our own request placed', () => {
  it.each<[string, string, OrderLine[], string]>([
    ['is delivered when it has every key', 'COMPLETED', WHOLE, 'abc, 3 ordered'],
    ['is a shortfall when it is COMPLETED with keys missing', 'COMPLETED', SHORT, `ac, 3 ordered: ${TWO_OF_3}`],
    ['is a shortfall without a product', 'PARTIAL_COMPLETED', NO_B, `ab, 3 ordered: PARTIAL_${TWO_OF_3}`],
    ['counts a product in two entries as one', 'COMPLETED', SPLIT, 'abc, 3 ordered'],
    ['needs no quantities', 'COMPLETED', [line('A', 'ab'), line('B', 'c')], 'abc, 3 ordered'],
    ['is not delivered when it FAILED, even if it shows keys', 'FAILED', WHOLE, 'FAILED'],
    ['is not delivered when it was REFUNDED, even if it shows keys', 'REFUNDED', WHOLE, 'REFUNDED'],
    ['stays open while it is PENDING', 'PENDING', WHOLE, 'open'],
    ['stays open in an undocumented status', 'AWAITING_SUPPLIER', WHOLE, 'open'],
    ['is held with too many keys', 'COMPLETED', SURPLUS, TOO_MANY],
    ['is held with another product', 'COMPLETED', WITH_C, `${OTHER} C, which was not bought`],
    ['is held with another quantity', 'COMPLETED', FIVE, `${OTHER} 5 of A; bought: 2`],
  ])('%s', (_, status, lines, expected) => {
    expect(summarize(reviewOrder({ items }, orderOf(status, lines), 'not-bought'))).toBe(expected);
  });

  it('is held in every status if another purchase claims it, because its keys must not be delivered twice', () => {
    for (const status of ['PENDING', 'COMPLETED', 'REFUNDED']) {
      const review = reviewOrder({ items }, orderOf(status, WHOLE, 'SALE-2'), 'not-bought');
      expect(summarize(review)).toBe('ORDER_OF_ANOTHER_PURCHASE: order O-1 also belongs to SALE-2');
    }
  });
});

describe('an order that was found in the history or named by an operator is compared in every status', () => {
  it.each([
    ['the same products and quantities', 'PENDING', EMPTY, 'open'],
    ['no products yet', 'PENDING', [], 'open'],
    ['a missing product', 'PENDING', [line('A', '', 2)], 'OTHER_ITEMS: the order does not contain B, which'],
    ['another quantity, although the order failed', 'FAILED', FEWER, 'OTHER_ITEMS: the order contains 1 of A'],
  ])('%s', (_, status, lines, expected) => {
    expect(summarize(reviewOrder({ items }, orderOf(status, lines), 'all'))).toContain(expected);
  });
});

describe('an order whose differences an operator has accepted', () => {
  const oneC = { productId: 'C', quantity: 1, keys: 1 };
  const exchanged = 'an operator accepted the order with other items; it is complete, with 2 keys';
  it.each<[Accepted, OrderLine[], string]>([
    [{ items: [{ ...oneC, quantity: 2 }] }, [line('C', 'xy', 2)], `xy, 2 ordered: ${exchanged}`],
    [{ items: [{ ...oneC, quantity: 3 }] }, [line('C', 'xy', 3)], `xy, 3 ordered: ${TWO_OF_3}`],
    // The operator saw no quantity. The products that were bought have arrived since.
    [{ items: [{ productId: 'C', keys: 2 }] }, [line('C', 'xy')], `xy, 2 ordered: ${exchanged}`],
    [{ items: [oneC] }, WITH_C, 'abcx, 4 ordered'],
    [{ surplus: 1 }, SURPLUS, 'abxc, 3 ordered'],
    // A surplus key of A does not replace a missing key of B.
    [{ surplus: 1 }, [line('A', 'abx', 2)], 'abx, 4 ordered: COMPLETED with 3 of 3 keys'],
  ])('%j: everything in %j is delivered, but any other problem is held', (accepted, lines, expected) => {
    const review = (some: Accepted, claimedBy?: string) =>
      summarize(reviewOrder({ items, accepted: some }, orderOf('COMPLETED', lines, claimedBy), 'not-bought'));
    expect(review(accepted)).toBe(expected);
    expect(review({ ...accepted, owner: true }, 'SALE-2')).toBe(expected);
    expect(review(accepted, 'SALE-2')).toContain('ORDER_OF_ANOTHER_PURCHASE');
    expect(review({})).toMatch(/OTHER_ITEMS|MORE_KEYS/);
  });

  it('is delivered without a hold once it matches the purchase after all', () => {
    const accepted = { items: [{ productId: 'A', quantity: 1, keys: 1 }] };
    expect(summarize(reviewOrder({ items, accepted }, orderOf('COMPLETED', WHOLE), 'not-bought'))).toBe(
      'abc, 3 ordered',
    );
  });

  it('is held again if it has more surplus keys than the operator saw', () => {
    const grown = orderOf('COMPLETED', [line('A', 'abxy', 2), line('B', 'c', 1)]);
    expect(summarize(reviewOrder({ items, accepted: { surplus: 1 } }, grown, 'not-bought'))).toContain(
      'MORE_KEYS_THAN_ORDERED',
    );
  });
});

describe('for any contents of an order', () => {
  const shownLine = fc.record({
    productId: fc.constantFrom('A', 'B', 'C'),
    quantity: fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined }),
    keyIds: fc.uniqueArray(fc.uuid(), { maxLength: 3 }),
  });
  const order = fc.record({
    orderId: fc.constant('O-1'),
    status: fc.constantFrom('PENDING', 'COMPLETED', 'PARTIAL_COMPLETED', 'REFUNDED', 'FAILED'),
    lines: fc.array(shownLine, { maxLength: 4 }),
    claimedBy: fc.option(fc.constant('SALE-2'), { nil: undefined }),
  });

  it('either all keys are delivered, each once, or none; an accepted problem is never held again', () => {
    fc.assert(
      fc.property(order, fc.constantFrom('all' as const, 'not-bought' as const), (shown, compared) => {
        let accepted: Accepted = {};
        const reasons: string[] = [];
        let review = reviewOrder({ items, accepted }, shown, compared);
        for (; review.kind === 'issue'; review = reviewOrder({ items, accepted }, shown, compared)) {
          expect(reasons).not.toContain(review.issue.reason);
          reasons.push(review.issue.reason);
          accepted = { ...accepted, ...review.issue.accepts };
        }
        if (review.kind !== 'deliver') return;
        const idsOf = (lines: readonly { keyIds: string[] }[]) => lines.flatMap(({ keyIds }) => keyIds).toSorted();
        expect(idsOf(review.lines)).toEqual(idsOf(shown.lines));
        const keysOf = (productId: string) => idsOf(shown.lines.filter((one) => one.productId === productId));
        expect(review.whole).toBe(items.every(({ productId, quantity }) => keysOf(productId).length >= quantity));
      }),
      { numRuns: 500 },
    );
  });
});
