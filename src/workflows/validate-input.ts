import { ApplicationFailure, workflowInfo } from '@temporalio/workflow';
import type { DeliverInput } from '../contracts/activities';
import { FAILURE } from '../contracts/failures';
import { deliverWorkflowId, purchaseWorkflowId } from '../contracts/names';
import type { PurchaseInput } from '../contracts/purchase';
import { DEFAULT_LOOKBACK_MS, type ReconcileInput } from '../contracts/reconciliation';
import { validatePurchase, validateReference } from '../domain/purchase-rules';
import { isBoolean, isNumber, isObject, isOptional, isString } from './activity-result-guards';

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
 * Refuses a delivery that names no purchase, or has the id of another one.
 *
 * @throws ApplicationFailure `InvalidDelivery`, which fails the workflow.
 */
export function validateDelivery(input: unknown): asserts input is DeliverInput {
  const { workflowId } = workflowInfo();
  const issues = isDeliverInput(input)
    ? validateReference(input.referenceId)
    : ['expected one argument {referenceId, again?}'];
  const expected = issues.length === 0 ? deliverWorkflowId((input as DeliverInput).referenceId) : workflowId;
  if (workflowId !== expected) issues.push(`workflow id: expected ${expected}, got ${workflowId}`);
  if (issues.length > 0) throw ApplicationFailure.nonRetryable(issues.join('; '), FAILURE.invalidDelivery);
}

const isDeliverInput = isObject({ referenceId: isString, again: isOptional(isBoolean) });
