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
import { isSafeOrderId, type OrderLine, type OrderSnapshot } from '../domain/order';
import { PURCHASE_OUTCOMES } from '../domain/purchase-state';
import type { EndedSale } from '../domain/plan-delivery';
import { LONGEST_RETRY_AFTER_MS } from '../domain/retry-after';

/*
 * What workflow code checks values with that somebody else made: inputs, updates, and activity results, because an operator can complete
 * any activity with anything. Not zod: the modules of a workflow bundle are frozen, and zod completes its schemas as it uses them.
 */

export type Guard<T> = (value: unknown) => value is T;

/** The type that a guard lets pass. */
export type Guarded<G> = G extends Guard<infer T> ? T : never;

const guard = <T>(test: (value: unknown) => boolean): Guard<T> => test as Guard<T>;

export const isString = guard<string>((value) => typeof value === 'string');
export const isBoolean = guard<boolean>((value) => typeof value === 'boolean');
/** A number that JSON can hold. */
export const isNumber = guard<number>((value) => Number.isFinite(value));
/** A pause in ms that ends some time. */
export const isPause = guard<number>((value) => isNumber(value) && value >= 0 && value <= LONGEST_RETRY_AFTER_MS);
export const isOrderId = guard<string>((value) => isString(value) && isSafeOrderId(value));

/** JSON of other languages has null where there is nothing. */
export function isOptional<T>(isPresent: Guard<T>): Guard<T | undefined> {
  return guard((value) => value === undefined || value === null || isPresent(value));
}

export function isListOf<T>(isEntry: Guard<T>): Guard<T[]> {
  return guard((value) => Array.isArray(value) && value.every(isEntry));
}

export function isRecordOf<T>(isValue: Guard<T>): Guard<Record<string, T>> {
  return guard((value) => isRecord(value) && Object.values(value).every(isValue));
}

export function isOneOf<const T extends string>(...texts: readonly T[]): Guard<T> {
  return guard((value) => texts.some((text) => text === value));
}

/** An object with at least these fields. */
export function isObject<Fields extends Record<string, Guard<unknown>>>(
  fields: Fields,
): Guard<{ [Name in keyof Fields]: Guarded<Fields[Name]> }> {
  return guard((value) => isRecord(value) && Object.entries(fields).every(([name, isField]) => isField(value[name])));
}

export function isEither<T, U>(isOne: Guard<T>, isOther: Guard<U>): Guard<T | U> {
  return guard((value) => isOne(value) || isOther(value));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

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
