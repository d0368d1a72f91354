import { ApplicationFailure, workflowInfo } from '@temporalio/workflow';
import type { KeyDelivery } from '../contracts/activities';
import type { DeliveryRequest, EventWithKeys } from '../contracts/checkout-events';
import { FAILURE } from '../contracts/failures';
import { deliverWorkflowId, purchaseWorkflowId } from '../contracts/names';
import type { PurchaseInput } from '../contracts/purchase';
import { DEFAULT_LOOKBACK_MS, type ReconcileInput } from '../contracts/reconciliation';
import type { EventLine } from '../domain/assess-order';
import { eventTypeOf, PURCHASE_OUTCOMES } from '../domain/outcome';
import { validatePurchase, validateReference } from '../domain/purchase-rules';
import {
  fieldsOf,
  type FieldsOfAll,
  isDate,
  isListOf,
  isNumber,
  isOptional,
  isOrderId,
  isString,
} from './value-guards';

/*
 * Anyone may start a workflow, in any language and with anything. What is not refused here would fail in the middle of a
 * workflow task, and Temporal would try that task for ever.
 */

/**
 * Refuses an invalid purchase before anything is done. The starter checks the same, but a checkout in another
 * language starts the workflow without it. The workflow id is checked because it is what makes a reference unique.
 *
 * @throws ApplicationFailure `InvalidPurchase`, which fails the workflow.
 */
export function validateInput(input: PurchaseInput): void {
  const issues = validatePurchase(input);
  const { workflowId } = workflowInfo();
  if (issues.length === 0 && workflowId !== purchaseWorkflowId(input.referenceId)) {
    issues.push(`workflow id: expected ${purchaseWorkflowId(input.referenceId)}, got ${workflowId}`);
  }
  if (issues.length > 0) throw ApplicationFailure.nonRetryable(issues.join('; '), FAILURE.invalidPurchase);
}

/**
 * Refuses an invalid reconciliation, and fills in the defaults. What is absent has its default; a null has none,
 * because it may be what JSON has made of NaN.
 *
 * @param now epoch ms; a look-back may not reach beyond 1970.
 * @throws ApplicationFailure `InvalidReconciliation`, which fails the workflow.
 */
export function validateReconcileInput(input: unknown, now: number): Required<ReconcileInput> {
  if (input === undefined) return validateReconcileInput({}, now);
  const issues: string[] = [];
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    issues.push('expected one argument {lookbackMs?, dryRun?, timeZone?}, or none');
  }
  const { lookbackMs = DEFAULT_LOOKBACK_MS, dryRun = false, timeZone = 'UTC' } = (input ?? {}) as ReconcileInput;
  if (!isNumber(lookbackMs) || lookbackMs <= 0 || lookbackMs > now) {
    issues.push('lookbackMs: expected a number of milliseconds above 0 that reaches back to 1970 at the most');
  }
  if (typeof dryRun !== 'boolean') issues.push('dryRun: expected true or false');
  if (!isString(timeZone)) issues.push('timeZone: expected the name of a time zone');
  if (issues.length > 0) throw ApplicationFailure.nonRetryable(issues.join('; '), FAILURE.invalidReconciliation);
  return { lookbackMs, dryRun, timeZone };
}

/**
 * Refuses what is neither an event without keys nor a purchase whose keys are to be delivered. Keys are delivered only under
 * the workflow id of their reference, because that is what keeps two deliveries apart.
 *
 * @throws ApplicationFailure `InvalidDelivery`, which fails the workflow.
 */
export function validateDelivery(input: unknown): void {
  const { workflowId } = workflowInfo();
  if (isKeyDelivery(input)) {
    const expected = deliverWorkflowId(input);
    if (workflowId === expected) return;
    throw invalidDelivery(`workflow id: expected ${expected}, got ${workflowId}`);
  }
  if (isDeliveryRequest(input) && !namesKeys(input)) return;
  throw invalidDelivery(
    'expected {referenceId, deliver: all or new, orderId?, previousRunId?} or an event without keys',
  );
}

function invalidDelivery(issue: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(issue, FAILURE.invalidDelivery);
}

function isKeyDelivery(value: unknown): value is KeyDelivery {
  const { referenceId, deliver, orderId, previousRunId } = fieldsOf<KeyDelivery>(value);
  const isOfKeys = deliver === 'all' || deliver === 'new';
  const isOfPurchase = validateReference(referenceId).length === 0 && isOptional(orderId, isOrderId);
  return isOfKeys && isOfPurchase && isOptional(previousRunId, isString);
}

function namesKeys(event: DeliveryRequest): boolean {
  return 'lines' in event && event.lines.some(({ fingerprints }) => fingerprints.length > 0);
}

/** Whether this is an event of this project, complete for its type. */
export function isDeliveryRequest(value: unknown): value is DeliveryRequest {
  const event = fieldsOf<FieldsOfAll<DeliveryRequest>>(value) as FieldsOfAll<DeliveryRequest>;
  const { type, at, referenceId, orderId, deduplicationKey, reason, details } = event;
  if (!isDate(at) || validateReference(referenceId).length > 0) return false;
  if (orderId !== undefined && !isOrderId(orderId)) return false;
  switch (type) {
    case 'purchase.held':
      return (
        isString(deduplicationKey) && isString(event.hold) && isListOf(event.decisions, isString) && isString(reason)
      );
    case 'purchasing.paused':
    case 'purchasing.resumed':
    case 'purchase.attention':
    case 'reconciliation.completed':
      return isString(deduplicationKey) && isString(event.kind) && typeof details === 'object' && details !== null;
    case 'purchase.refunded':
      if (isString(deduplicationKey)) return isOrderId(orderId) && isString(reason);
      return isEventWithKeys(event);
    default:
      return isEventWithKeys(event);
  }
}

/** Keys without the order that they are in can't be read. */
function isEventWithKeys(value: unknown): boolean {
  const { type, orderId, outcome, lines } = fieldsOf<EventWithKeys>(value);
  if (!isListOf(lines, isEventLine)) return false;
  if (type === 'purchase.late_delivery') return isOrderId(orderId);
  const hasKeys = (lines as EventLine[]).some(({ fingerprints }) => fingerprints.length > 0);
  return (
    PURCHASE_OUTCOMES.some((known) => known === outcome && eventTypeOf(known) === type) &&
    (!hasKeys || isOrderId(orderId))
  );
}

function isEventLine(value: unknown): boolean {
  const { productId, title, quantity, fingerprints } = fieldsOf<EventLine>(value);
  return isString(productId) && isOptional(title, isString) && isNumber(quantity) && isListOf(fingerprints, isString);
}
