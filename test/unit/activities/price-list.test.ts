import { createPriceList, type Prices } from '../../../src/activities/price-list';
import { maxDebitIssue } from '../../../src/domain/money';
import type { PartnerClient } from '../../../src/partner';
import { clientOf, listServer, productRow } from '../partner/fixtures';

const MINUTE = 60_000;
const SHORT = 5;

describe('catalogue prices', () => {
  it.each([
    ['are valid for a minute', MINUTE - 1, 'old'],
    ['stay in use while a refresh is slow', 15 * MINUTE - 1, 'old'],
    ['are not used after a quarter of an hour', 15 * MINUTE, 'none'],
  ])('%s', async (_, ageMs, prices) => {
    const { readPrices, pass } = await readOnce();
    pass(ageMs);
    expect(await Promise.race([readPrices(SHORT).then(shownBy), later('none')])).toBe(prices);
  });

  it('are the new ones if the refresh ends in time', async () => {
    const { readPrices, pass, answer } = await readOnce();
    pass(2 * MINUTE);
    const prices = readPrices(MINUTE);
    answer('new');
    expect(shownBy(await prices)).toBe('new');
  });

  it('are refreshed once for all callers, and the refresh continues after its callers gave up', async () => {
    const { readPrices, pass, answer, readings } = await readOnce();
    pass(2 * MINUTE);
    await Promise.all([readPrices(SHORT), readPrices(SHORT)]);
    answer('new');
    expect([shownBy(await readPrices(SHORT)), readings()]).toEqual(['new', 2]);
  });

  it('include both prices of a product that the catalogue lists twice', async () => {
    const rows = [5, 50].map((price) => productRow('p', { price }));
    const { url } = await listServer('products', () => [...rows, ...rows]);
    const prices = await createPriceList(clientOf(url))(MINUTE);
    expect(prices.get('p')).toMatchObject([{ price: 5 }, { price: 50 }]);
  });

  it('include a price that cannot be read, so that no other price of the product counts alone', async () => {
    const rows = [productRow('p', { price: 1 }), productRow('p', { price: '99.00' }), productRow('q', { price: 2 })];
    const { url } = await listServer('products', () => rows);
    const prices = await createPriceList(clientOf(url))(MINUTE);
    expect(maxDebitIssue([{ productId: 'p', quantity: 1 }], 5, prices)).toBe(
      'a price of p in the catalogue is unreadable',
    );
    expect(maxDebitIssue([{ productId: 'q', quantity: 1 }], 5, prices)).toBeUndefined();
  });

  it('are missing after a failed refresh only for the callers that waited for it', async () => {
    const { readPrices, pass, fail } = await readOnce();
    pass(2 * MINUTE);
    expect(shownBy(await readPrices(SHORT))).toBe('old');
    fail();
    await expect(readPrices(MINUTE)).rejects.toThrow('away');
  });
});

/**
 * A catalogue that was read once. The currency of its product tells which refresh it is from; `answer` ends a refresh.
 */
async function readOnce() {
  let now = 0;
  let readings = 0;
  let reading: { resolve(currency: string): void; reject(error: Error): void } | undefined;
  const products = async function* () {
    readings += 1;
    const currency = await new Promise<string>((resolve, reject) => (reading = { resolve, reject }));
    yield { id: 'p', price: 1, currency };
  };
  const withPermits = (_: unknown, work: (partner: unknown) => unknown) => work({ products });
  const partner = { withPermits } as unknown as PartnerClient;
  const readPrices = createPriceList(partner, () => now);
  const first = readPrices(SHORT);
  reading?.resolve('old');
  await first;
  return {
    readPrices,
    readings: () => readings,
    pass: (ms: number) => void (now += ms),
    answer: (currency: string) => reading?.resolve(currency),
    fail: () => reading?.reject(new Error('away')),
  };
}

function shownBy(prices: Prices): string | undefined {
  const price = prices.get('p')?.[0];
  return price === 'unreadable' ? price : price?.currency;
}

function later<T>(value: T): Promise<T> {
  return new Promise((resolve) => setTimeout(() => resolve(value), 20 * SHORT));
}
