import fc from 'fast-check';
import { type KeyIds, keyIdsOf, missingKeyIds, unionOfKeyIds } from '../../../src/domain/key-ids';

/** The partner's ids are free text, so a product may be named like a property that every object has. */
const productId = fc.constantFrom('card-20', 'card-50', '__proto__', 'constructor', 'toString');
const keyIds = fc.uniqueArray(fc.constantFrom('k.1', 'k.2', 'k.2#2', 'k.3'));
const keys = fc.array(fc.tuple(productId, keyIds)).map((entries): KeyIds => Object.fromEntries(entries));
const textsOf = (all: KeyIds) => Object.entries(all).flatMap(([product, ids]) => ids.map((id) => `${product} ${id}`));

describe('key ids by product', () => {
  it('come from every line of a product, not only from its last line', () => {
    const byProduct = keyIdsOf([
      { productId: 'card-50', keyIds: ['k.1'] },
      { productId: '__proto__', keyIds: ['k.2'] },
      { productId: 'card-50', keyIds: ['k.3'] },
      { productId: 'card-20', keyIds: [] },
    ]);
    expect(Object.entries(byProduct)).toEqual([
      ['card-50', ['k.1', 'k.3']],
      ['__proto__', ['k.2']],
    ]);
  });

  it('form a set: a union contains each of them once and misses none', () => {
    fc.assert(
      fc.property(keys, keys, (one, other) => {
        const union = unionOfKeyIds(one, other);
        expect(textsOf(union).toSorted()).toEqual([...new Set([...textsOf(one), ...textsOf(other)])].toSorted());
        expect([...missingKeyIds(one, union), ...missingKeyIds(other, union)]).toEqual([]);
        const missing = textsOf(one).filter((text) => !textsOf(other).includes(text));
        expect(missingKeyIds(one, other)).toEqual(missing.map((text) => text.split(' ')[1]));
      }),
    );
  });
});

it('finding missing keys takes linear time, because a workflow task waits for it', () => {
  const ids = Array.from({ length: 200_000 }, (_, index) => `k.${index}`);
  const begun = performance.now();
  expect(missingKeyIds({ card: ids }, { card: ids.toReversed() })).toEqual([]);
  expect(unionOfKeyIds({ card: ids }, { card: ids.toReversed() }).card).toHaveLength(ids.length);
  expect(performance.now() - begun).toBeLessThan(5_000);
});
