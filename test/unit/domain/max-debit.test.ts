import { maxDebitIssue } from '../../../src/domain/money';

const prices = new Map([
  ['a', [{ price: 0.1, currency: 'EUR' }]],
  ['b', [{ price: 12.345678, currency: 'EUR' }]],
  ['in-dollars', [{ price: 1, currency: 'USD' }]],
  ['negative', [{ price: -5, currency: 'EUR' }]],
  ['free', [{ price: 0, currency: 'EUR' }]],
  ['dear-and-cheap', [50, 5].map((price) => ({ price, currency: 'EUR' }))],
  ['in-both', ['EUR', 'USD'].map((currency) => ({ price: 5, currency }))],
]);

describe('the maximum debit of a purchase', () => {
  it.each([
    ['is compared with the sum of prices times quantities', { a: 2, b: 1 }, 12.545678],
    ['is exact in decimals, although 3 × 0.1 exceeds 0.3 in floating point', { a: 3 }, 0.3],
    ['may be zero for free products', { free: 1_000 }, 0],
  ])('%s', (_, items, maxDebit) => {
    expect(issueOf(items, maxDebit)).toBeUndefined();
  });

  it.each([
    [
      'one millionth above the maximum is too much',
      { b: 1 },
      12.345677,
      'the catalogue price is 12.345678, but the maximum for this purchase is 12.345677',
    ],
    [
      'one piece more is too much',
      { a: 4 },
      0.3,
      'the catalogue price is 0.4, but the maximum for this purchase is 0.3',
    ],
    ['a product that is missing from the catalogue has no price', { a: 1, c: 1 }, 1e9, 'no price for c'],
    ['a negative price does not count as a price', { negative: 1, b: 1 }, 1e9, 'no price for negative'],
    ['of several prices, the highest counts', { 'dear-and-cheap': 1 }, 10, 'the catalogue price is 50'],
    ['a price in several currencies is not compared', { 'in-both': 1 }, 1e9, 'different currencies'],
    ['prices in several currencies are not added up', { a: 1, 'in-dollars': 1 }, 1e9, 'different currencies'],
  ])('%s', (_, items, maxDebit, reason) => {
    expect(issueOf(items, maxDebit)).toContain(reason);
  });
});

function issueOf(items: Record<string, number>, maxDebit: number): string | undefined {
  const bought = Object.entries(items).map(([productId, quantity]) => ({ productId, quantity }));
  return maxDebitIssue(bought, maxDebit, prices);
}
