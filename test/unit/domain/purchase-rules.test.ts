import { describeItems, hasSameItems, validatePurchase } from '../../../src/domain/purchase-rules';

const good = { referenceId: 'SALE-1', items: [{ productId: 'steam-50', quantity: 2 }] };

const bad = (change: object) => validatePurchase({ ...good, ...change }).join();
const quantityOf = (quantity: unknown) => ({ items: [{ productId: 'steam-50', quantity }] });

describe('validating the input of a purchase', () => {
  it.each([0, 12.5, 1e9, null, undefined])('accepts %p as the maximum debit', (maxDebit) => {
    expect(bad({ maxDebit })).toBe('');
  });

  it.each([undefined, null, 'SALE-1', 7])('refuses %p, which is not the argument of a purchase', (input) => {
    expect(validatePurchase(input)).toHaveLength(1);
  });

  it.each(['', '-x', 'a b', 'a/b', '../x', 'a'.repeat(101), 'ü', 7, undefined])(
    'refuses the reference %p, which would change a path or a query',
    (referenceId) => expect(bad({ referenceId })).toContain('referenceId: expected'),
  );

  it.each([0, -1, 1.5, 1001, NaN, Infinity, '2', 1n, undefined])('refuses %p as a quantity', (quantity) => {
    expect(bad(quantityOf(quantity))).toContain('items[0].quantity: expected an integer of 1 to 1000');
  });

  it.each([-0.01, NaN, Infinity, 1e21, '12.5', {}])('refuses %p as the maximum debit', (maxDebit) => {
    expect(bad({ maxDebit })).toContain('maxDebit: expected nothing or a number of at least 0');
  });

  it('refuses a list with a hole', () => {
    const items: unknown[] = [];
    items[1] = good.items[0];
    expect(bad({ items })).toBe('items[0]: expected {productId, quantity}');
  });

  it('refuses a product id that would set the prototype of an object, and so be lost', () => {
    expect(bad({ items: [{ productId: '__proto__', quantity: 1 }] })).toContain('__proto__ is not allowed');
  });

  it('refuses a product that is listed twice, because the intended quantity is unclear', () => {
    const items = [...good.items, { productId: 'steam-50', quantity: 1 }];
    expect(bad({ items })).toContain('is listed twice');
  });

  it('quotes the bad input as valid text, never cut in the middle of a character', () => {
    const [issue = ''] = validatePurchase({ ...good, referenceId: `${'x'.repeat(57)}🎮\u202E` });
    expect(issue).toMatch(/got "x{57}…$/);
    expect(describeItems([{ productId: 'a\u202E\nb', quantity: 1 }])).toBe('1 × a b');
  });

  it('reports all issues at once', () => {
    const input = { referenceId: '', items: [{ productId: '', quantity: 0 }], maxDebit: -1 };
    expect(validatePurchase(input)).toHaveLength(4);
  });

  it('accepts the largest purchase but refuses more keys than fit in one payload', () => {
    const items = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ productId: `p-${index}`, quantity: 1000 }));
    expect(validatePurchase({ ...good, items: items(20) })).toEqual([]);
    expect(validatePurchase({ ...good, items: items(21) })).toHaveLength(1);
  });
});

it('item lists are equal in any order, but not with another quantity, product or number of items', () => {
  const one = { productId: 'A', quantity: 1 };
  const two = { productId: 'B', quantity: 2 };
  expect(hasSameItems([one, two], [two, one])).toBe(true);
  const others = [[{ ...one, quantity: 2 }], [{ ...one, productId: 'C' }], [one, two]];
  expect(others.filter((other) => hasSameItems([one], other))).toEqual([]);
});
