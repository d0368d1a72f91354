import fc from 'fast-check';
import { fromMicros, isSameAmount, isShareOf, sumOfAmounts, toMicros } from '../../../src/domain/money';

const cents = fc.integer({ min: -1_000_000_000, max: 1_000_000_000 });

describe('money', () => {
  it('survives the round trip to the cent', () => {
    fc.assert(fc.property(cents, (n) => expect(fromMicros(toMicros(n / 100)!)).toBe(n === 0 ? 0 : n / 100)));
  });

  it('adds up exactly, without floating-point errors', () => {
    expect(sumOfAmounts([0.1, 0.2, undefined])).toBe(0.3);
    expect(sumOfAmounts(Array.from({ length: 100_000 }, () => 0.01))).toBe(1_000);
    fc.assert(
      fc.property(fc.array(cents), (list) => {
        const total = list.reduce((sum, n) => sum + n, 0);
        expect(sumOfAmounts(list.map((n) => n / 100))).toBe(total === 0 ? 0 : total / 100);
      }),
    );
  });

  it.each([Number.NaN, Infinity, -Infinity, 1e21])('treats %p as no amount, not as zero', (amount) => {
    expect(toMicros(amount)).toBeUndefined();
    expect(isSameAmount(amount, amount)).toBe(false);
    expect(sumOfAmounts([amount, 1])).toBe(1);
    expect(isShareOf(amount, 1, 1, 1)).toBe(false);
  });

  it('recognises the price of a part to within half a cent per piece, but no further', () => {
    expect(isShareOf(10, 3.33, 1, 3)).toBe(true);
    expect(isShareOf(10, 3.34, 1, 3)).toBe(false);
    expect(isShareOf(12.34, 6.17, 1, 2)).toBe(true);
  });
});
