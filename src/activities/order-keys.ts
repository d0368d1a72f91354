import { log } from '@temporalio/activity';
import { FAILURE } from '../contracts/failures';
import { canStopPolling, type Key, mayHaveKeys, type OrderLine, type OrderSnapshot, safeStatus } from '../domain/order';
import { groupBy } from '../domain/group-by';
import type { Order } from '../partner';
import type { ActivityDependencies } from './dependencies';
import { failure } from './failures';

/** One line of an order. Each key has the id that identifies it in every event. */
export interface LineWithKeyIds extends OrderLine {
  keys: (Key & { id: string })[];
}

/**
 * Gives the keys of an order their ids. Identical keys of one product are numbered across all its lines.
 * @throws ApplicationFailure `SecretMissing`, retryable, if this worker lacks the secret: with another secret the keys
 *   would get new ids.
 */
export function addKeyIds(
  { fingerprints }: Pick<ActivityDependencies, 'fingerprints'>,
  { products }: Order,
  secretId: string,
): LineWithKeyIds[] {
  const idsOf = new Map<string, string[]>();
  for (const [productId, lines] of groupBy(products, ({ id }) => id)) {
    const keyIds = fingerprints.keyIds(
      lines.flatMap(({ keys }) => keys),
      secretId,
    );
    if (!keyIds) {
      const message = `this worker has no FINGERPRINT_SECRET with the id ${secretId}: add the older secret again`;
      throw failure(FAILURE.secretMissing, message);
    }
    idsOf.set(productId, keyIds);
  }
  return products.map(({ id: productId, title, quantity, keys }) => {
    const keyIds = idsOf.get(productId)?.splice(0, keys.length) ?? [];
    return { productId, title, quantity, keyIds, keys: keys.map((key, at) => ({ id: keyIds[at] ?? '', ...key })) };
  });
}

/**
 * An order without its keys. It has key ids only if its status allows a delivery. Logs fields with an unexpected shape.
 */
export function snapshotOf(orderId: string, order: Order, lines: LineWithKeyIds[]): OrderSnapshot {
  const { totalDebit, ignored } = order;
  const status = safeStatus(order.status);
  if (canStopPolling(status) && ignored.length > 0) {
    log.warn('fields of the order have an unexpected shape and are ignored', { orderId, fields: ignored.join(', ') });
  }
  return {
    orderId,
    status,
    lines: lines.map(({ productId, title, quantity, keyIds }) => {
      return { productId, title, quantity, keyIds: mayHaveKeys(status) ? keyIds : [] };
    }),
    totalDebit,
  };
}
