import type { FoundOrder, OrderSearchResult, PlacementResult, PolledOrder } from '../contracts/activities';
import type { DeliveryReceipt, EarlierEvent, LateDeliveryEvent, OutcomeEvent } from '../contracts/checkout-events';
import { isSafeOrderId, type OrderLine } from '../domain/order';

/**
 * A person can complete any pending activity with anything. Only what has the shape of an answer of our own counts as one:
 * the rest is what it is for a workflow whose worker died, an activity of which nothing is known.
 */

type Fields<T> = { [Key in keyof T]?: unknown };
type FieldsOfAll<T> = Record<T extends unknown ? keyof T : never, unknown>;

/** Whether this is an answer of `placeOrder`. */
export function isPlacementAnswer(value: unknown): value is PlacementResult {
  const { evidence, orderId, orders, why, retryAfterMs } = fieldsOf<FieldsOfAll<PlacementResult>>(value);
  switch (evidence as PlacementResult['evidence']) {
    case 'PLACED':
      return isOrderId(orderId);
    case 'FOUND':
      return isListOf(orders, isFoundOrder) && isText(why);
    case 'NOT_SENT':
    case 'ORDER_REFUSED':
    case 'ACCESS_REFUSED':
    case 'CONFLICT':
    case 'ANSWERED':
    case 'UNKNOWN':
      return isText(why) && isOptional(retryAfterMs, Number.isFinite);
    default:
      return false;
  }
}

/** Whether this is an answer of `findOrders`. */
export function isHistoryLook(value: unknown): value is OrderSearchResult {
  const { runId, orders, readable, why } = fieldsOf<OrderSearchResult>(value);
  return isText(runId) && isListOf(orders, isFoundOrder) && typeof readable === 'boolean' && isText(why);
}

/** Whether this is what `awaitOrderChange` or `getOrder` saw of this very order. */
export function isViewOf(orderId: string, value: unknown): value is PolledOrder {
  const view = fieldsOf<PolledOrder>(value);
  return (
    view.orderId === orderId &&
    isText(view.status) &&
    isListOf(view.lines, isOrderLine) &&
    isOptional(view.totalDebit, Number.isFinite) &&
    isOptional(view.claimedBy, isText) &&
    isOptional(view.earlier, (earlier) => isListOf(earlier, isEarlierEvent))
  );
}

/** Whether this is a receipt of `deliverEvent`; nothing else counts as delivered. */
export function isReceipt(value: unknown): value is DeliveryReceipt {
  const { eventId } = fieldsOf<DeliveryReceipt>(value);
  return isText(eventId) && eventId.startsWith('evt_');
}

function isFoundOrder(value: unknown): boolean {
  const { id, status, createdAt } = fieldsOf<FoundOrder>(value);
  return isOrderId(id) && isText(status) && isText(createdAt);
}

function isEarlierEvent(value: unknown): boolean {
  const { request, eventId } = fieldsOf<EarlierEvent>(value);
  const { type, at, lines } = fieldsOf<OutcomeEvent | LateDeliveryEvent>(request);
  return isText(type) && isText(at) && isListOf(lines, isOrderLine) && isOptional(eventId, isText);
}

function isOrderLine(value: unknown): boolean {
  const { productId, title, quantity, fingerprints } = fieldsOf<OrderLine>(value);
  return (
    isText(productId) &&
    isOptional(title, isText) &&
    isOptional(quantity, Number.isFinite) &&
    isListOf(fingerprints, isText)
  );
}

function fieldsOf<T>(value: unknown): Fields<T> {
  return typeof value === 'object' && value !== null ? value : {};
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isOrderId(value: unknown): boolean {
  return isText(value) && isSafeOrderId(value);
}

function isListOf(value: unknown, isEntry: (entry: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isEntry);
}

function isOptional(value: unknown, isPresent: (value: unknown) => boolean): boolean {
  return value === undefined || value === null || isPresent(value);
}
