import { findUnaccepted, productsOf } from '../../../src/domain/review-order';
import { line } from './orders';

const items = [
  { productId: 'p', quantity: 2 },
  { productId: 'q', quantity: 1 },
];
const seen = (productId: string, quantity: number | undefined, keys: number) => ({ productId, quantity, keys });

describe('items other than those ordered, once an operator has accepted them', () => {
  it.each([
    ['one key when the operator saw two', [seen('r', 2, 1)], [line('r', 'ab', 2)]],
    ['more keys than the quantity, if the operator saw them already', [seen('r', 1, 2)], [line('r', 'ab', 1)]],
    [
      'the product that was bought, if it arrives after all',
      [seen('r', 1, 1)],
      [line('r', 'a', 1), line('p', 'bc', 2)],
    ],
    ['a product whose quantity the partner shows only now', [seen('r', undefined, 2)], [line('r', 'ab', 2)]],
    ['a product whose quantity the partner no longer shows', [seen('p', 2, 1)], [line('p', 'ab')]],
    ['the quantity that was bought, when the operator saw another', [seen('p', 1, 2)], [line('p', 'ab', 2)]],
  ])('need no second decision for %s', (_, accepted, lines) => {
    expect(findUnaccepted(items, accepted, lines)).toBeUndefined();
  });

  it.each([
    [[seen('r', 1, 1)], [line('r', 'abc', 1)], 'the order contains 3 keys of r; accepted: 1'],
    [[seen('r', 1, 1)], [line('r', 'abc', 3)], 'the order contains 3 of r; accepted: 1'],
    [[seen('r', undefined, 1)], [line('r', 'abc', 3)], 'the order contains 3 keys of r; accepted: 1'],
    [
      [seen('p', 2, 2)],
      [line('p', 'a', 2), line('d', '')],
      'the order contains d, which was neither bought nor accepted',
    ],
    [[seen('r', 1, 1)], [line('r', 'a', 1), line('p', 'bcd', 2)], 'the order contains 3 keys of p; accepted: 2'],
  ])('need a new decision for anything beyond what was accepted: %j, then %j', (accepted, lines, question) => {
    expect(findUnaccepted(items, accepted, lines)).toBe(question);
  });

  it('sum the quantity of a product over its lines; it is unknown if one line shows none', () => {
    const lines = [line('a', 'x', 1), line('b', '', 2), line('a', 'yz', 2), line('b', '')];
    expect(productsOf(lines)).toEqual([seen('a', 3, 3), seen('b', undefined, 0)]);
  });
});
