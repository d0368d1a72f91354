import { beyondAccepted, productsOf } from '../../../src/domain/review-order';
import { line } from './orders';

const items = [
  { productId: 'p', quantity: 2 },
  { productId: 'q', quantity: 1 },
];
const seen = (productId: string, quantity: number | undefined, keys: number) => ({ productId, quantity, keys });

describe('of other items that an operator has accepted', () => {
  it.each([
    ['one key of the two that were seen', [seen('r', 2, 1)], [line('r', 'ab', 2)]],
    ['more keys than its quantity, which were there already', [seen('r', 1, 2)], [line('r', 'ab', 1)]],
    ['what was bought, which has come after all', [seen('r', 1, 1)], [line('r', 'a', 1), line('p', 'bc', 2)]],
    ['a product whose quantity the partner shows only now', [seen('r', undefined, 2)], [line('r', 'ab', 2)]],
    ['a product whose quantity the partner no longer shows', [seen('p', 2, 1)], [line('p', 'ab')]],
    ['the quantity that was bought, where another one was seen', [seen('p', 1, 2)], [line('p', 'ab', 2)]],
  ])('nobody is asked about %s', (_, accepted, lines) => {
    expect(beyondAccepted(items, accepted, lines)).toBeUndefined();
  });

  it.each([
    [[seen('r', 1, 1)], [line('r', 'abc', 1)], 'the order holds 3 keys of r; accepted: 1'],
    [[seen('r', 1, 1)], [line('r', 'abc', 3)], 'the order holds 3 of r; accepted: 1'],
    [[seen('r', undefined, 1)], [line('r', 'abc', 3)], 'the order holds 3 keys of r; accepted: 1'],
    [[seen('p', 2, 2)], [line('p', 'a', 2), line('d', '')], 'the order holds d, which was neither bought nor accepted'],
    [[seen('r', 1, 1)], [line('r', 'a', 1), line('p', 'bcd', 2)], 'the order holds 3 keys of p; accepted: 2'],
  ])('a person is asked about anything beyond: %j, then %j', (accepted, lines, question) => {
    expect(beyondAccepted(items, accepted, lines)).toBe(question);
  });

  it('the quantity of a product is that of all its lines, and unknown if one of them shows none', () => {
    const lines = [line('a', 'x', 1), line('b', '', 2), line('a', 'yz', 2), line('b', '')];
    expect(productsOf(lines)).toEqual([seen('a', 3, 3), seen('b', undefined, 0)]);
  });
});
