import { log } from '@temporalio/activity';
import { FAILURE } from '../contracts/failures';
import {
  endsPolling,
  type Key,
  mayHaveKeys,
  type OrderLine,
  type OrderSnapshot,
  presentableStatus,
} from '../domain/order';
import { groupBy } from '../domain/group-by';
import type { Order } from '../partner';
import type { ActivityDependencies } from './dependencies';
import { failure } from './failures';

/** One line of an order, its keys with the ids that they have in every event. */
export interface NamedLine extends OrderLine {
  keys: (Key & { id: string })[];
}

/**
 * Names the keys of an order. Identical keys of one product are told apart by their place, across all its lines. Without the
 * secret it fails, and is tried again: under another one they would be other keys, and an operator can put it back.
 */
export function nameKeys(
  { fingerprints }: Pick<ActivityDependencies, 'fingerprints'>,
  { products }: Order,
  secretId: string,
): NamedLine[] {
  const idsOf = new Map<string, string[]>();
  for (const [productId, lines] of groupBy(products, ({ id }) => id)) {
    const keyIds = fingerprints.keyIds(
      lines.flatMap(({ keys }) => keys),
      secretId,
    );
    if (!keyIds) {
      const message = `no FINGERPRINT_SECRET of this worker has the id ${secretId}: put the older secret back`;
      throw failure(FAILURE.deliveryFailed, message);
    }
    idsOf.set(productId, keyIds);
  }
  return products.map(({ id: productId, title, quantity, keys }) => {
    const keyIds = idsOf.get(productId)?.splice(0, keys.length) ?? [];
    return { productId, title, quantity, keyIds, keys: keys.map((key, at) => ({ id: keyIds[at] ?? '', ...key })) };
  });
}

/** Everything of an order but its keys, of which the ids are there once they may be delivered. Warns of an odd order that has ended. */
export function snapshotOf(orderId: string, order: Order, lines: NamedLine[]): OrderSnapshot {
  const { totalDebit, ignored } = order;
  const status = presentableStatus(order.status);
  if (endsPolling(status) && ignored.length > 0) {
    log.warn('fields of the order have another shape, and count as absent', { orderId, fields: ignored.join(', ') });
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
