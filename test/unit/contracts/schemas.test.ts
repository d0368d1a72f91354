import { MAX_QUANTITY, validatePurchase } from '../../../src/domain/purchase-rules';
import { isDocumentedInput, undocumentedEvents, undocumentedResult } from '../../support/documented';

const ITEM = { productId: 'demo-instant', quantity: 1 };
const SALE = { referenceId: 'SALE-1', items: [ITEM] };
const DELIVERED = {
  type: 'purchase.delivered',
  timestamp: '2026-01-01T00:00:00.000Z',
  data: { referenceId: 'SALE-1', orderId: 'ord-1', outcome: 'DELIVERED', lines: [{ ...ITEM, keys: [] }] },
};

describe('docs/schemas', () => {
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
  ])('takes and refuses the same input as the workflow: %s', (_, input) => {
    expect(isDocumentedInput(input)).toBe(validatePurchase(input).length === 0);
  });

  it('lets an event and a result pass that fit, and names what does not: another outcome, a field more, an unknown type', () => {
    const { data } = DELIVERED;
    expect(undocumentedEvents([DELIVERED])).toEqual([]);
    expect(undocumentedEvents([{ ...DELIVERED, data: { ...data, outcome: 'FAILED' } }])).toHaveLength(1);
    expect(undocumentedEvents([{ ...DELIVERED, data: { ...data, fingerprints: [] } }])).toHaveLength(1);
    expect(undocumentedEvents([{ ...DELIVERED, type: 'purchase.unheard_of' }])).toHaveLength(1);
    expect(undocumentedResult({ referenceId: 'SALE-1', outcome: 'DELIVERED', lines: [] })).toEqual([]);
    expect(undocumentedResult({ referenceId: 'SALE-1', outcome: 'SOLD', lines: [] })).toHaveLength(1);
  });
});
