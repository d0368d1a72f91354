import { holdIn, purchaseInput, purchaseMemo, purchaseResult } from '../../../src/contracts/purchase';
import { MAX_QUANTITY, validatePurchase } from '../../../src/domain/purchase-rules';
import { isDocumentedInput, undocumentedResult } from '../../support/documented';

const ITEM = { productId: 'demo-instant', quantity: 1 };
const SALE = { referenceId: 'SALE-1', items: [ITEM] };

it.each([
  ['a sale', SALE],
  ['the most that it may cost', { ...SALE, maxDebit: 12.5 }],
  ['a negative sum', { ...SALE, maxDebit: -1 }],
  ['no items', { ...SALE, items: [] }],
  ['too many items', { ...SALE, items: Array.from({ length: 101 }, (_, n) => ({ ...ITEM, productId: `p${n}` })) }],
  ['half a key', { ...SALE, items: [{ ...ITEM, quantity: 1.5 }] }],
  ['too many keys', { ...SALE, items: [{ ...ITEM, quantity: MAX_QUANTITY + 1 }] }],
  ['a product without a name', { ...SALE, items: [{ ...ITEM, productId: '' }] }],
  ['a reference with a space', { ...SALE, referenceId: 'SALE 1' }],
  ['no reference', { items: [ITEM] }],
])('the starter, the workflow and docs/schemas take and refuse the same input: %s', (_, input) => {
  const isValid = validatePurchase(input).length === 0;
  expect([isDocumentedInput(input), purchaseInput.safeParse(input).success]).toEqual([isValid, isValid]);
});

it.each([
  ['a whole result', { referenceId: 'SALE-1', outcome: 'DELIVERED', lines: [{ ...ITEM, delivered: 1 }] }, true],
  ['an outcome that there is not', { referenceId: 'SALE-1', outcome: 'SOLD', lines: [] }, false],
  ['no lines', { referenceId: 'SALE-1', outcome: 'FAILED' }, false],
])('a delivery after the end reads as a result what docs/schemas calls one: %s', (_, result, isOne) => {
  expect([undocumentedResult(result).length === 0, purchaseResult.safeParse(result).success]).toEqual([isOne, isOne]);
});

describe('a memo, which anybody who starts a workflow may write', () => {
  const hold = { id: 'run:1', reason: 'ORDER_CHANGES', explanation: 'why', decisions: ['deliver'], since: 'then' };

  it('has nothing where a client in another language wrote null', () => {
    expect(purchaseMemo.parse({ keyIds: null, hold: null, ordered: 2 })).toEqual({ ordered: 2 });
  });

  it.each([
    ['keys that are no list', { keyIds: { card: 'k.1' } }],
    ['a count that is none', { delivered: '2' }],
    ['what nobody can have accepted', { accepted: { orderId: 'o-1', items: true } }],
  ])('with %s is refused as a whole', (_, memo) => {
    expect(purchaseMemo.safeParse(memo).success).toBe(false);
  });

  it('shows its hold whatever else is in it, and none that is not of our own form', () => {
    expect(holdIn({ hold, delivered: '2' })).toEqual(hold);
    for (const other of [{ ...hold, reason: 'KEY_GONE' }, { ...hold, decisions: ['pay'] }, 'HELD', undefined]) {
      expect(holdIn({ hold: other })).toBeUndefined();
    }
  });
});
