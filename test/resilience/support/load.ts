import { setTimeout as sleep } from 'node:timers/promises';
import type { TestEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';

export interface Sale {
  referenceId: string;
  product: string;
  startedAt: number;
  /** How many times a start was tried until the server accepted it. */
  tries: number;
}

/**
 * Starts purchases of two of each product in turn, at a steady pace whatever happens to earlier ones, until it is
 * stopped.
 */
export function startLoad(env: TestEnvironment, everyMs: number, products: readonly string[] = ['demo-instant']) {
  const sales: Promise<Sale>[] = [];
  const stop = new AbortController();
  const begunAt = Date.now();
  const selling = (async () => {
    while (!stop.signal.aborted) {
      sales.push(sellWithRetries(env, products[sales.length % products.length]!));
      await sleep(Math.max(0, begunAt + sales.length * everyMs - Date.now()));
    }
  })();
  return {
    count: () => sales.length,
    /** @returns all purchases, once the server has accepted each */
    async stop(): Promise<Sale[]> {
      stop.abort();
      await selling;
      return Promise.all(sales);
    },
  };
}

async function sellWithRetries(env: TestEnvironment, product: string): Promise<Sale> {
  const sale = { referenceId: env.reference(), product, startedAt: Date.now(), tries: 0 };
  const isTaken = () => {
    sale.tries += 1;
    return startSale(env, { [product]: 2 }, sale.referenceId);
  };
  await waitUntil(`${sale.referenceId} is started`, isTaken, { everyMs: 500 });
  return sale;
}

/**
 * Starts a purchase as a checkout does while the server may be down: again, under the same reference. @returns whether
 * it was accepted
 */
export function startSale({ buy }: TestEnvironment, items: Record<string, number>, referenceId: string) {
  return buy(items, referenceId).then(
    () => true,
    () => false,
  );
}

/** @returns when the keys of each purchase first arrived, filled in while they arrive */
export function watchDeliveries({ receiver }: TestEnvironment): Map<string, number> {
  const deliveredAt = new Map<string, number>();
  receiver.respondWith(({ body: { type, data } }) => {
    if (type === 'purchase.delivered' && !deliveredAt.has(data.referenceId))
      deliveredAt.set(data.referenceId, Date.now());
    return 204;
  });
  return deliveredAt;
}
