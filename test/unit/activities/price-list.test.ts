import { createPriceList } from '../../../src/activities/price-list';

const MINUTE = 60_000;
const SHORT = 5;

describe('the prices of the catalogue', () => {
  it.each([
    ['count for a minute', MINUTE - 1, 'old'],
    ['of before count where a new reading takes too long', 15 * MINUTE - 1, 'old'],
    ['of a quarter of an hour ago do not count', 15 * MINUTE, 'none'],
  ])('%s', async (_, ageMs, prices) => {
    const { readPrices, pass } = await readOnce();
    pass(ageMs);
    expect(await Promise.race([readPrices(SHORT).then(shownBy), later('none')])).toBe(prices);
  });

  it('are the new ones where they can be read in time', async () => {
    const { readPrices, pass, answer } = await readOnce();
    pass(2 * MINUTE);
    const prices = readPrices(MINUTE);
    answer('new');
    expect(shownBy(await prices)).toBe('new');
  });

  it('are read on for whom did not wait for them', async () => {
    const { readPrices, pass, answer, readings } = await readOnce();
    pass(2 * MINUTE);
    await Promise.all([readPrices(SHORT), readPrices(SHORT)]);
    answer('new');
    expect([shownBy(await readPrices(SHORT)), readings()]).toEqual(['new', 2]);
  });

  it('fail for nobody who did not wait for them', async () => {
    const { readPrices, pass, fail } = await readOnce();
    pass(2 * MINUTE);
    expect(shownBy(await readPrices(SHORT))).toBe('old');
    fail();
    await expect(readPrices(MINUTE)).rejects.toThrow('away');
  });
});

/** A catalogue of one product, whose currency says which reading it is of. It was read once; it answers when it is to. */
async function readOnce() {
  let now = 0;
  let readings = 0;
  let settle: { resolve(currency: string): void; reject(error: Error): void } | undefined;
  const products = async function* () {
    readings += 1;
    const currency = await new Promise<string>((resolve, reject) => {
      settle = { resolve, reject };
    });
    yield { id: 'p', price: 1, currency };
  };
  type Partner = Parameters<typeof createPriceList>[0];
  const partner = {
    withPermits: (_: unknown, work: (partner: unknown) => unknown) => work({ products }),
  } as unknown as Partner;
  const readPrices = createPriceList(partner, () => now);
  const first = readPrices(SHORT);
  settle?.resolve('old');
  await first;
  return {
    readPrices,
    readings: () => readings,
    pass: (ms: number) => {
      now += ms;
    },
    answer: (currency: string) => settle?.resolve(currency),
    fail: () => settle?.reject(new Error('away')),
  };
}

const shownBy = (prices: ReadonlyMap<string, { currency: string }>) => prices.get('p')?.currency;

function later<T>(value: T): Promise<T> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(value), 20 * SHORT);
  });
}
