import { holdIn, purchaseInput, purchaseMemo, purchaseResult } from '../../../src/contracts/purchase';
import { MAX_QUANTITY, validatePurchase } from '../../../src/domain/purchase-rules';
import { isDocumentedInput, undocumentedResult } from '../../support/documented';

const ITEM = { productId: 'demo-instant', quantity: 1 };
const SALE = { referenceId: 'SALE-1', items: [ITEM] };

it.each([
  ['a sale', SALE],
  ['a maximum debit', { ...SALE, maxDebit: 12.5 }],
  ['a negative maximum debit', { ...SALE, maxDebit: -1 }],
  ['no items', { ...SALE, items: [] }],
  ['too many items', { ...SALE, items: Array.from({ length: 101 }, (_, n) => ({ ...ITEM, productId: `p${n}` })) }],
  ['a fractional quantity', { ...SALE, items: [{ ...ITEM, quantity: 1.5 }] }],
  ['too many keys', { ...SALE, items: [{ ...ITEM, quantity: MAX_QUANTITY + 1 }] }],
  ['an empty product id', { ...SALE, items: [{ ...ITEM, productId: '' }] }],
  ['a reference with a space', { ...SALE, referenceId: 'SALE 1' }],
  ['no reference', { items: [ITEM] }],
])('the starter, the workflow and docs/schemas accept and reject the same input: %s', (_, input) => {
  const isValid = validatePurchase(input).length === 0;
  expect([isDocumentedInput(input), purchaseInput.safeParse(input).success]).toEqual([isValid, isValid]);
});

it.each([
  ['a complete result', { referenceId: 'SALE-1', outcome: 'DELIVERED', lines: [{ ...ITEM, delivered: 1 }] }, true],
  ['an unknown outcome', { referenceId: 'SALE-1', outcome: 'SOLD', lines: [] }, false],
  ['no lines', { referenceId: 'SALE-1', outcome: 'FAILED' }, false],
])('a delivery after the end and docs/schemas agree on what a result is: %s', (_, result, isOne) => {
  expect([undocumentedResult(result).length === 0, purchaseResult.safeParse(result).success]).toEqual([isOne, isOne]);
});

describe('a memo, which anyone who starts a workflow may write', () => {
  const hold = { id: 'run:1', reason: 'ORDER_CHANGES', explanation: 'why', decisions: ['deliver'], since: 'then' };

  it('ignores fields that a client in another language set to null', () => {
    expect(purchaseMemo.parse({ keyIds: null, hold: null, ordered: 2 })).toEqual({ ordered: 2 });
  });

  it.each([
    ['keys that are not a list', { keyIds: { card: 'k.1' } }],
    ['a count that is not a number', { delivered: '2' }],
    ['an impossible acceptance', { accepted: { orderId: 'o-1', items: true } }],
  ])('with %s is rejected as a whole', (_, memo) => {
    expect(purchaseMemo.safeParse(memo).success).toBe(false);
  });

  it('yields its hold even if other fields are invalid, but never a malformed hold', () => {
    expect(holdIn({ hold, delivered: '2' })).toEqual(hold);
    const hostile = [{ reason: 'KEY_GONE' }, { decisions: ['pay'] }, { id: 'run:1; rm' }, { id: '' }];
    for (const other of [...hostile.map((fields) => ({ ...hold, ...fields })), 'HELD', undefined]) {
      expect(holdIn({ hold: other })).toBeUndefined();
    }
  });
});
