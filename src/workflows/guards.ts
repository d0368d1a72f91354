import { ApplicationFailure, workflowInfo } from '@temporalio/workflow';
import type {
  DeliveryAttemptResult,
  DeliverInput,
  FoundOrder,
  OrderCheck,
  OrderSearchResult,
  PlacementResult,
  PolledOrder,
  SaleDeliveryAttemptResult,
} from '../contracts/activities';
import { FAILURE } from '../contracts/failures';
import { deliverWorkflowId, purchaseWorkflowId } from '../contracts/names';
import type { PurchaseInput } from '../contracts/purchase';
import { DEFAULT_LOOKBACK_MS, type ReconcileInput, type ReconciliationResult } from '../contracts/reconciliation';
import { isSafeOrderId, type OrderLine, type OrderSnapshot } from '../domain/order';
import type { EndedPurchase } from '../domain/plan-delivery';
import { itemsOnly, validatePurchase, validateReference } from '../domain/purchase-rules';
import { PURCHASE_OUTCOMES } from '../domain/purchase-state';
import { MAX_RETRY_AFTER_MS } from '../domain/retry-after';

/*
 * Checks of everything that reaches workflow code from outside: workflow inputs and activity results. They don't use
 * zod, because zod completes a schema at first use, but Temporal freezes the modules of a workflow bundle.
 */

type Guard<T> = (value: unknown) => value is T;
type Guarded<G> = G extends Guard<infer T> ? T : never;

const guard = <T>(test: (value: unknown) => boolean): Guard<T> => test as Guard<T>;

const isString = guard<string>((value) => typeof value === 'string');
const isBoolean = guard<boolean>((value) => typeof value === 'boolean');
/** A number that JSON can hold. */
const isNumber = guard<number>((value) => Number.isFinite(value));
/** A delay in ms, of bounded length. */
const isDelay = guard<number>((value) => isNumber(value) && value >= 0 && value <= MAX_RETRY_AFTER_MS);
const isOrderId = guard<string>((value) => isString(value) && isSafeOrderId(value));

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Other languages write null for an absent field. */
function isOptional<T>(isPresent: Guard<T>): Guard<T | undefined> {
  return guard((value) => value === undefined || value === null || isPresent(value));
}

function isListOf<T>(isEntry: Guard<T>): Guard<T[]> {
  return guard((value) => Array.isArray(value) && value.every(isEntry));
}

function isRecordOf<T>(isValue: Guard<T>): Guard<Record<string, T>> {
  return guard((value) => isRecord(value) && Object.values(value).every(isValue));
}

function isOneOf<const T extends string | boolean>(...values: readonly T[]): Guard<T> {
  return guard((value) => values.some((one) => one === value));
}

/** An object with at least these fields. */
function isObject<Fields extends Record<string, Guard<unknown>>>(
  fields: Fields,
): Guard<{ [Name in keyof Fields]: Guarded<Fields[Name]> }> {
  return guard((value) => isRecord(value) && Object.entries(fields).every(([name, isField]) => isField(value[name])));
}

function isEither<Guards extends Guard<unknown>[]>(...guards: Guards): Guard<Guarded<Guards[number]>> {
  return guard((value) => guards.some((isOne) => isOne(value)));
}

/*
 * Results. An operator can complete a pending activity with any value. A value of the wrong shape is treated as if the
 * worker had died: nothing is known about what the activity did.
 */

const isFoundOrder: Guard<FoundOrder> = isObject({ id: isOrderId, status: isString, createdAt: isString });
const isFoundOrders = isListOf(isFoundOrder);
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

const isPlacement = isEither(
  isObject({ evidence: isOneOf('PLACED'), orderId: isOrderId }),
  isObject({
    evidence: isOneOf('FOUND'),
    orders: guard<[FoundOrder, ...FoundOrder[]]>((value) => isFoundOrders(value) && value.length > 0),
    reason: isString,
  }),
  isObject({
    evidence: isOneOf(
      ...(['NOT_SENT', 'OVER_MAX_DEBIT', 'PAUSED', 'FENCED', 'ORDER_REJECTED', 'ACCESS_DENIED'] as const),
      ...(['CONFLICT', 'ERROR_RESPONSE', 'UNKNOWN'] as const),
    ),
    reason: isString,
    retryAfterMs: isOptional(isDelay),
    permitInMs: isOptional(isDelay),
    inFlight: isOptional(isBoolean),
  }),
);

const hasIsOnlyExecution = isObject({ isOnlyExecution: isOptional(isBoolean) });

export function isPlacementResult(value: unknown): value is PlacementResult {
  return isPlacement(value) && hasIsOnlyExecution(value);
}

export const isOrderSearchResult: Guard<OrderSearchResult> = isObject({
  orders: isFoundOrders,
  provesAbsence: isBoolean,
  reason: isString,
});

const hasEarlierDeliveries = isObject({
  receivedKeyIds: isOptional(isKeyIds),
  keylessEvents: isOptional(isListOf(isString)),
});

/** Whether this is a snapshot of exactly this order. */
export function isPolledOrder(orderId: string, value: unknown): value is PolledOrder {
  return isSnapshot(value) && value.orderId === orderId && hasEarlierDeliveries(value);
}

export const isOrderCheck: Guard<OrderCheck> = isEither(
  isObject({ usable: isOneOf(true) }),
  isObject({ usable: isOneOf(false), reason: isString }),
);

const isEndedShape = isObject({
  referenceId: isString,
  runId: isOptional(isString),
  items: isListOf(isObject({ productId: isString, quantity: isNumber })),
  outcome: isOptional(isOneOf(...PURCHASE_OUTCOMES)),
  outcomeKeyIds: isKeyIds,
  receivedKeyIds: isKeyIds,
  refundReceived: isBoolean,
  keylessEvents: isOptional(isListOf(isString)),
  adopted: isOptional(isBoolean),
  order: isOptional(isSnapshot),
});

/** Whether this is a result of `readEndedPurchase` for this purchase. */
export function isEndedPurchase(referenceId: string, value: unknown): value is EndedPurchase {
  return isEndedShape(value) && value.referenceId === referenceId;
}

export const isDeliveryAttemptResult: Guard<DeliveryAttemptResult> = isEither(
  isObject({ kind: isOneOf('RECEIVED'), event: isObject({ id: isString, type: isString, at: isString }) }),
  isObject({ kind: isOneOf('REFUSED') }),
);

export const isSaleDeliveryAttemptResult: Guard<SaleDeliveryAttemptResult> = isEither(
  isDeliveryAttemptResult,
  isObject({ kind: isOneOf('CHANGED'), eventMayHaveArrived: isBoolean }),
);

export const isReconciliationResult = isObject({
  from: isString,
  to: isString,
  orders: isNumber,
  findings: isRecordOf(isNumber),
  repaired: isNumber,
  report: isString,
}) as Guard<ReconciliationResult>;

/*
 * Inputs. Any Temporal client may start a workflow with any input. If an invalid input were not rejected here, it would
 * fail the workflow task, which Temporal retries forever.
 */

/**
 * Rejects an invalid purchase before anything is done. The starter makes the same checks, but checkouts in other
 * languages don't use the starter. The workflow id is checked because it makes the reference unique.
 *
 * @returns the known fields of the input and no others.
 * @throws ApplicationFailure `InvalidPurchase`, which fails the workflow.
 */
export function validatePurchaseInput(input: PurchaseInput): PurchaseInput {
  const issues = validatePurchase(input);
  const { workflowId } = workflowInfo();
  if (issues.length === 0 && workflowId !== purchaseWorkflowId(input.referenceId)) {
    issues.push(`workflow id: expected ${purchaseWorkflowId(input.referenceId)}, got ${workflowId}`);
  }
  if (issues.length > 0) throw ApplicationFailure.nonRetryable(issues.join('; '), FAILURE.invalidPurchase);
  const { referenceId, items, maxDebit } = input;
  return { referenceId, items: itemsOnly(items), maxDebit };
}

/**
 * Rejects an invalid reconciliation and fills in defaults for absent fields. A null gets no default, because JSON turns
 * NaN into null.
 *
 * @param now epoch ms; the lookback must not reach beyond 1970.
 * @throws ApplicationFailure `InvalidReconciliation`, which fails the workflow.
 */
export function validateReconcileInput(now: number, input: unknown = {}): Required<ReconcileInput> {
  const issues = isRecord(input) ? [] : ['expected one argument {lookbackMs?, dryRun?, timeZone?}, or none'];
  const { lookbackMs = DEFAULT_LOOKBACK_MS, dryRun = false, timeZone = 'UTC' } = (input ?? {}) as ReconcileInput;
  if (!isNumber(lookbackMs) || lookbackMs <= 0 || lookbackMs > now) {
    issues.push('lookbackMs: expected a number of milliseconds above 0 that does not reach back beyond 1970');
  }
  if (!isBoolean(dryRun)) issues.push('dryRun: expected true or false');
  if (!isString(timeZone) || timeZone.length > 100) issues.push('timeZone: expected the name of a time zone');
  if (issues.length > 0) throw ApplicationFailure.nonRetryable(issues.join('; '), FAILURE.invalidReconciliation);
  return { lookbackMs, dryRun, timeZone };
}

const isDeliverInput = isObject({ referenceId: isString, again: isOptional(isBoolean) });

/**
 * Rejects a delivery that names no purchase, or that runs under the id of another purchase.
 *
 * @returns the known fields of the input and no others.
 * @throws ApplicationFailure `InvalidDelivery`, which fails the workflow.
 */
export function validateDeliverInput(input: unknown): DeliverInput {
  const { workflowId } = workflowInfo();
  const issues = isDeliverInput(input)
    ? validateReference(input.referenceId)
    : ['expected one argument {referenceId, again?}'];
  const expected = issues.length === 0 ? deliverWorkflowId((input as DeliverInput).referenceId) : workflowId;
  if (workflowId !== expected) issues.push(`workflow id: expected ${expected}, got ${workflowId}`);
  if (issues.length > 0) throw ApplicationFailure.nonRetryable(issues.join('; '), FAILURE.invalidDelivery);
  const { referenceId, again } = input as DeliverInput;
  return { referenceId, again };
}
