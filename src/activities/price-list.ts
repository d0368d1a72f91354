import { performance } from 'node:perf_hooks';
import type { ProductPrice } from '../domain/max-debit';
import type { PartnerClient } from '../partner';

/** For how long the prices of a catalogue count after it was read, in ms. Whoever buys then reads it anew. */
const VALID_MS = 60_000;

/** The prices of the catalogue by product. */
export type Prices = ReadonlyMap<string, ProductPrice>;

/**
 * The prices of the partner's catalogue, for all placements of a process: read whole, because the partner does not show that
 * its search knows product ids, by one at a time, and again a minute after it was read.
 *
 * A reading belongs to no placement: under a low `PARTNER_MAX_RPS` it may take longer than an attempt may, and whoever asks
 * later has its result. @returns throws PartnerError where the catalogue can't be read.
 */
export function createPriceList(partner: Pick<PartnerClient, 'inTurn'>): () => Promise<Prices> {
  let known: { prices: Prices; readAt: number } | undefined;
  let reading: Promise<Prices> | undefined;

  async function read(): Promise<Prices> {
    const prices = await partner.inTurn({ priority: 'search', key: 'catalogue' }, readPrices);
    known = { prices, readAt: performance.now() };
    return prices;
  }

  return async () => {
    if (known && performance.now() - known.readAt < VALID_MS) return known.prices;
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  };
}

async function readPrices(partner: Pick<PartnerClient, 'products'>): Promise<Prices> {
  const prices = new Map<string, ProductPrice>();
  for await (const { id, price, currency } of partner.products()) prices.set(id, { price, currency });
  return prices;
}
