import type {
  Delivered,
  FoundOrder,
  OrderCheck,
  OrderSearchResult,
  PlacementResult,
  PolledOrder,
  SaleDelivered,
} from '../contracts/activities';
import type { ReconciliationResult } from '../contracts/reconciliation';
import type { OrderLine, OrderSnapshot } from '../domain/order';
import { PURCHASE_OUTCOMES } from '../domain/purchase-state';
import type { EndedSale } from '../domain/plan-delivery';
import {
  type Guard,
  isBoolean,
  isEither,
  isListOf,
  isNumber,
  isObject,
  isOneOf,
  isOptional,
  isOrderId,
  isPause,
  isRecordOf,
  isString,
} from './value-guards';

/*
 * An operator can complete any pending activity with anything. Only what has the shape of a result of our own counts as one;
 * anything else is like the end of an activity whose worker died: nothing is known.
 */

const isFoundOrder: Guard<FoundOrder> = isObject({ id: isOrderId, status: isString, createdAt: isString });
const isKeyIds = isRecordOf(isListOf(isString));
const isLine = isObject({
  productId: isString,
  title: isOptional(isString),
  quantity: isOptional(isNumber),
  keyIds: isListOf(isString),
}) as Guard<OrderLine>;
const isSnapshot = isObject({
  orderId: isOrderId,
  status: isString,
  lines: isListOf(isLine),
  totalDebit: isOptional(isNumber),
  claimedBy: isOptional(isString),
}) as Guard<OrderSnapshot>;
const isEvent = isObject({ id: isString, type: isString, at: isString });

const isPlaced = isObject({ evidence: isOneOf('PLACED'), orderId: isOrderId });
const isFound = isObject({ evidence: isOneOf('FOUND'), orders: isListOf(isFoundOrder), why: isString });
const isNothingPlaced = isObject({
  evidence: isOneOf(
    ...(['NOT_SENT', 'OVER_MAX_DEBIT', 'PAUSED', 'FENCED', 'ORDER_REFUSED', 'ACCESS_REFUSED'] as const),
    ...(['CONFLICT', 'ANSWERED', 'UNKNOWN'] as const),
  ),
  why: isString,
  retryAfterMs: isOptional(isPause),
  permitInMs: isOptional(isPause),
  inFlight: isOptional(isBoolean),
});

/** Whether this is a result of `placeOrder`. */
export function isPlacementResult(value: unknown): value is PlacementResult {
  return isPlaced(value) || isNothingPlaced(value) || (isFound(value) && value.orders.length > 0);
}

/** Whether this is a result of `findOrders`. */
export const isOrderSearchResult: Guard<OrderSearchResult> = isObject({
  orders: isListOf(isFoundOrder),
  readable: isBoolean,
  why: isString,
});

const hasConfirmedKeyIds = isObject({ confirmedKeyIds: isOptional(isKeyIds) });

/** Whether this is a snapshot of this very order, from `awaitOrderChange` or `pollOrder`. */
export function isPolledOrder(orderId: string, value: unknown): value is PolledOrder {
  return isSnapshot(value) && value.orderId === orderId && hasConfirmedKeyIds(value);
}

/** Whether this is a result of `checkOrder`. */
export const isOrderCheck: Guard<OrderCheck> = isEither(
  isObject({ usable: isTrue }),
  isObject({ usable: isFalse, why: isString }),
);

const isSale = isObject({
  referenceId: isString,
  items: isListOf(isObject({ productId: isString, quantity: isNumber })),
  outcome: isOptional(isOneOf(...PURCHASE_OUTCOMES)),
  outcomeKeyIds: isKeyIds,
  confirmedKeyIds: isKeyIds,
  refundConfirmed: isBoolean,
  order: isOptional(isSnapshot),
});

/** Whether this is a result of `readSale` about this purchase. */
export function isEndedSale(referenceId: string, value: unknown): value is EndedSale {
  return isSale(value) && value.referenceId === referenceId;
}

/** Whether this is the end of a delivery. */
export const isDelivered: Guard<Delivered> = isEither(
  isObject({ kind: isOneOf('RECEIVED'), event: isEvent }),
  isObject({ kind: isOneOf('REFUSED') }),
);

/** Whether this is a result of `deliverSale`. */
export const isSaleDelivered: Guard<SaleDelivered> = isEither(
  isDelivered,
  isObject({ kind: isOneOf('CHANGED'), maybeSent: isBoolean }),
);

const isResult = isObject({
  from: isString,
  to: isString,
  orders: isNumber,
  findings: isRecordOf(isNumber),
  repaired: isNumber,
  report: isString,
});

/** Whether this is a result of `reconcileOrders`. */
export function isReconciliationResult(value: unknown): value is ReconciliationResult {
  return isResult(value);
}

function isTrue(value: unknown): value is true {
  return value === true;
}

function isFalse(value: unknown): value is false {
  return value === false;
}
