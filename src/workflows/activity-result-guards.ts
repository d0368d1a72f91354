import type {
  DeliveryPlan,
  FoundOrder,
  OrderCheck,
  OrderSearchResult,
  PlacementResult,
  PolledOrder,
} from '../contracts/activities';
import type { NextPaused } from '../contracts/brake';
import type { EarlierEvent, EventWithKeys } from '../contracts/checkout-events';
import type { OrderLine } from '../domain/order';
import type { ReconciliationResult } from '../contracts/reconciliation';
import type { WatchResult } from '../contracts/watch';
import { validateReference } from '../domain/purchase-rules';
import { isDeliveryRequest } from './validate-input';
import {
  fieldsOf,
  type FieldsOfAll,
  isDate,
  isInstant,
  isListOf,
  isNumber,
  isOptional,
  isOrderId,
  isPause,
  isString,
} from './value-guards';

/**
 * An operator can complete any pending activity with anything. Only what has the shape of a result of our own counts as one;
 * anything else is like the end of an activity whose worker died: nothing is known.
 */

/** Whether this is a result of `placeOrder`. */
export function isPlacementResult(value: unknown): value is PlacementResult {
  const { evidence, orderId, placedAt, orders, why, retryAfterMs, turnInMs } =
    fieldsOf<FieldsOfAll<PlacementResult>>(value);
  switch (evidence as PlacementResult['evidence']) {
    case 'PLACED':
      return isOrderId(orderId) && isOptional(placedAt, isInstant);
    case 'FOUND':
      return isListOf(orders, isFoundOrder) && isString(why);
    case 'NOT_SENT':
    case 'OVER_MAX_DEBIT':
    case 'PAUSED':
    case 'ORDER_REFUSED':
    case 'ACCESS_REFUSED':
    case 'CONFLICT':
    case 'ANSWERED':
    case 'UNKNOWN':
      return isString(why) && isOptional(retryAfterMs, isPause) && isOptional(turnInMs, isPause);
    default:
      return false;
  }
}

/** Whether this is a result of `findOrders`. */
export function isOrderSearchResult(value: unknown): value is OrderSearchResult {
  const { runId, orders, readable, why } = fieldsOf<OrderSearchResult>(value);
  return isString(runId) && isListOf(orders, isFoundOrder) && typeof readable === 'boolean' && isString(why);
}

/** Whether this is a snapshot of this very order, from `awaitOrderChange` or `getOrder`. */
export function isOrderSnapshot(orderId: string, value: unknown): value is PolledOrder {
  const order = fieldsOf<PolledOrder>(value);
  return (
    order.orderId === orderId &&
    isString(order.status) &&
    isListOf(order.lines, isOrderLine) &&
    isOptional(order.polledAt, isDate) &&
    isOptional(order.totalDebit, isNumber) &&
    isOptional(order.claimedBy, isString) &&
    isOptional(order.earlier, (earlier) => isListOf(earlier, isEarlierEvent))
  );
}

/** Whether this is a result of `checkOrder`. */
export function isOrderCheck(value: unknown): value is OrderCheck {
  const { usable, why } = fieldsOf<FieldsOfAll<OrderCheck>>(value);
  return usable === true || (usable === false && isString(why));
}

/** Whether this is a result of `planDelivery`. */
export function isDeliveryPlan(value: unknown): value is DeliveryPlan {
  const { requests, received, ordered, orderId, order } = fieldsOf<DeliveryPlan>(value);
  const products = typeof received === 'object' && received !== null ? Object.values(received) : [undefined];
  return (
    isListOf(requests, isDeliveryRequest) &&
    products.every((fingerprints) => isListOf(fingerprints, isString)) &&
    isNumber(ordered) &&
    isOptional(orderId, isString) &&
    isOptional(order, (read) => isString(fieldsOf<{ id: string }>(read).id))
  );
}

/** Whether this is a result of `reconcileOrders`. */
export function isReconciliationResult(value: unknown): value is ReconciliationResult {
  const { from, to, orders, findings, mended, report } = fieldsOf<ReconciliationResult>(value);
  const isCounted = typeof findings === 'object' && findings !== null && isNumber(orders) && isNumber(mended);
  return isCounted && isString(from) && isString(to) && isString(report);
}

/** What `nextPaused` has found, whatever completed it: nobody may be let through unless it says so. */
export function readNextPaused(value: unknown): NextPaused {
  const { why, referenceId } = fieldsOf<NextPaused>(value);
  if (isString(why)) return { why };
  if (validateReference(referenceId).length === 0) return { referenceId: String(referenceId) };
  return isOptional(referenceId, () => false) ? {} : { why: 'an operator has completed the activity' };
}

/** Whether this is the result of `watchOrders` that ends the watcher; after any other it goes on. */
export function isEndOfWatch(value: unknown): boolean {
  return fieldsOf<WatchResult>(value).needed === false;
}

function isFoundOrder(value: unknown): boolean {
  const { id, status, createdAt } = fieldsOf<FoundOrder>(value);
  return isOrderId(id) && isString(status) && isString(createdAt);
}

function isEarlierEvent(value: unknown): boolean {
  const { request, eventId } = fieldsOf<EarlierEvent>(value);
  const { type, at, lines } = fieldsOf<EventWithKeys>(request);
  return isString(type) && isString(at) && isListOf(lines, isOrderLine) && isOptional(eventId, isString);
}

function isOrderLine(value: unknown): boolean {
  const { productId, title, quantity, fingerprints } = fieldsOf<OrderLine>(value);
  return (
    isString(productId) &&
    isOptional(title, isString) &&
    isOptional(quantity, isNumber) &&
    isListOf(fingerprints, isString)
  );
}
