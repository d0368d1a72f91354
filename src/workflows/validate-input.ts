import { ApplicationFailure, workflowInfo } from '@temporalio/workflow';
import { FAILURE } from '../contracts/failures';
import { purchaseWorkflowId } from '../contracts/names';
import type { PurchaseInput } from '../contracts/purchase';
import { validatePurchase } from '../domain/purchase-rules';

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
