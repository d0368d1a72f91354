import { performance } from 'node:perf_hooks';
import type { ProductPrice } from '../domain/money';
import type { PartnerClient } from '../partner';
import { withTimeout } from '../temporal/client';

/** How long prices are fresh, in ms. */
const VALID_MS = 60_000;
/** How long stale prices may be used if a refresh is slow: reading a catalogue may take longer than an attempt. */
const USABLE_MS = 15 * 60_000;

/** All prices of each product, by product id. */
export type Prices = ReadonlyMap<string, readonly ProductPrice[]>;

/**
 * Reads the prices. If stale prices may be used, it waits at most `maxWaitMs` for a refresh.
 * @throws PartnerError
 */
export type ReadPrices = (maxWaitMs: number) => Promise<Prices>;

/**
 * The prices of the partner's catalogue, shared by all placements of the process and refreshed once a minute. The whole
 * catalogue is read, because the partner does not document a search by product id.
 */
export function createPriceList(
  partner: Pick<PartnerClient, 'withPermits'>,
  now: () => number = () => performance.now(),
): ReadPrices {
  let known: { prices: Prices; readAt: number } | undefined;
  let reading: Promise<Prices> | undefined;

  async function read(): Promise<Prices> {
    const prices = await partner.withPermits({ class: 'confirmation' }, readPrices);
    known = { prices, readAt: now() };
    return prices;
  }

  return async (maxWaitMs) => {
    const age = known ? now() - known.readAt : Infinity;
    if (known && age < VALID_MS) return known.prices;
    reading ??= read().finally(() => {
      reading = undefined;
    });
    if (!known || age >= USABLE_MS) return reading;
    const { prices } = known;
    return (await withTimeout(maxWaitMs, reading)) ?? prices;
  };
}

async function readPrices(partner: Pick<PartnerClient, 'products'>): Promise<Prices> {
  const prices = new Map<string, ProductPrice[]>();
  const add = (id: string, price: ProductPrice) => prices.set(id, [...(prices.get(id) ?? []), price]);
  const addUnreadable = ({ id }: { id?: string }) => id !== undefined && add(id, 'unreadable');
  // By relevance, which is the default, equal products could change places between two pages.
  const products = partner.products({ sort: 'ALPHABET_ASC' }, addUnreadable);
  for await (const { id, price, currency } of products) add(id, { price, currency });
  return prices;
}
