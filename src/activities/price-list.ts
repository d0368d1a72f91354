import { performance } from 'node:perf_hooks';
import type { ProductPrice } from '../domain/max-debit';
import type { PartnerClient } from '../partner';
import { withinMs } from '../temporal/client';

/** For how long the prices of a catalogue count after it was read, in ms. Whoever buys then reads it anew. */
const VALID_MS = 60_000;
/**
 * For how long those of before count for whom a new reading takes too long. A catalogue that is slower than an attempt may be would else
 * never have its prices in time for a purchase that the brake lets through, which it does every 10 min at the least.
 */
const USABLE_MS = 15 * 60_000;

/** The prices of the catalogue by product. */
export type Prices = ReadonlyMap<string, ProductPrice>;

/**
 * The prices of the partner's catalogue, for all placements of a process: read whole, because the partner does not show that
 * its search knows product ids, by one at a time, and again a minute after it was read.
 *
 * A reading belongs to no placement: under a low `PARTNER_MAX_RPS` it may take longer than an attempt may, and whoever asks
 * later has its result; until then the prices of before count, if they were read within a quarter of an hour.
 *
 * @returns what reads the prices. Where those of before count, it waits `patienceMs` for new ones at the most. Throws PartnerError where the catalogue
 * can't be read.
 */
export function createPriceList(
  partner: Pick<PartnerClient, 'withPermits'>,
  now: () => number = () => performance.now(),
): (patienceMs: number) => Promise<Prices> {
  let known: { prices: Prices; readAt: number } | undefined;
  let reading: Promise<Prices> | undefined;

  async function read(): Promise<Prices> {
    const prices = await partner.withPermits({ class: 'confirmation' }, readPrices);
    known = { prices, readAt: now() };
    return prices;
  }

  return async (patienceMs) => {
    const age = known ? now() - known.readAt : Infinity;
    if (known && age < VALID_MS) return known.prices;
    reading ??= read().finally(() => {
      reading = undefined;
    });
    if (!known || age >= USABLE_MS) return reading;
    const { prices } = known;
    return (await withinMs(patienceMs, reading)) ?? prices;
  };
}

async function readPrices(partner: Pick<PartnerClient, 'products'>): Promise<Prices> {
  const prices = new Map<string, ProductPrice>();
  for await (const { id, price, currency } of partner.products()) prices.set(id, { price, currency });
  return prices;
}
