import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { PURCHASE_WORKFLOW, purchaseWorkflowId, STARTED_WITH_REJECT_DUPLICATE } from '../contracts/names';
import type { PurchaseInput } from '../contracts/public-types';
import { statusCommand } from '../contracts/operator-commands';
import { PURCHASE_STATE, REFERENCE_ID } from '../contracts/search-attributes';
import { escapeMarkdown, joinDetails, summaryOf } from '../domain/text-format';
import { describeItems, hasSameItems, hasSameMaxDebit, validatePurchase } from '../domain/purchase-rules';
import { createPurchaseReader, grpcErrorOf } from '../temporal/client';
import { PurchaseDiffersError, ReferenceUnusableError } from './errors';

/** The purchase that was started or found. */
export interface PurchaseStart {
  referenceId: string;
  /** Temporal's id of the purchase: `purchase-` and the reference. */
  workflowId: string;
  /** Temporal's id of the run. */
  runId: string;
  /** False if the purchase already existed. */
  started: boolean;
}

/** How a purchase is started: fields of `StarterOptions`. */
interface StartOptions {
  taskQueue: string;
  fairnessKey?: string | undefined;
}

/**
 * Starts a purchase, or finds the one that its reference already has.
 *
 * @throws PurchaseDiffersError, ReferenceUnusableError
 * @internal
 */
export async function startOrFind(
  client: Client,
  { taskQueue, fairnessKey }: StartOptions,
  requested: PurchaseInput,
): Promise<PurchaseStart> {
  const { referenceId, items } = requested;
  const workflowId = purchaseWorkflowId(referenceId);
  const options = {
    workflowId,
    taskQueue,
    args: [requested],
    workflowIdReusePolicy: 'REJECT_DUPLICATE' as const,
    memo: { [STARTED_WITH_REJECT_DUPLICATE]: true },
    staticSummary: summaryOf(escapeMarkdown(describeItems(items))),
    staticDetails: describeSale(requested),
    priority: fairnessKey === undefined ? undefined : { fairnessKey },
  };
  // Without them, the workflow writes them itself, which costs the server one more write.
  const typedSearchAttributes = [
    { key: REFERENCE_ID, value: referenceId },
    { key: PURCHASE_STATE, value: 'PLACING' },
  ];
  try {
    const handle = await client.workflow
      .start(PURCHASE_WORKFLOW, { ...options, typedSearchAttributes })
      .catch((error: unknown) => {
        // The namespace has no search attributes yet. No worker runs without them, so the purchase waits for a worker.
        if (!grpcErrorOf(error)?.details.includes('search attribute')) throw error;
        return client.workflow.start(PURCHASE_WORKFLOW, options);
      });
    return { referenceId, workflowId, runId: handle.firstExecutionRunId, started: true };
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    return { referenceId, workflowId, runId: await findExisting(client, requested), started: false };
  }
}

/** The fixed details of a purchase in the Temporal UI. The workflow updates its other details itself. */
function describeSale({ referenceId, items }: PurchaseInput): string {
  const lines = items.map(({ productId, quantity }) => `- ${quantity} × ${escapeMarkdown(summaryOf(productId))}`);
  const shown = lines.length > 20 ? [...lines.slice(0, 20), `- and ${lines.length - 20} more`] : lines;
  return joinDetails([
    `The purchase of sale **${escapeMarkdown(referenceId)}**:`,
    shown.join('\n'),
    'To see its current state:',
    ['```', statusCommand(referenceId), '```'].join('\n'),
  ]);
}

/**
 * @returns the run id of the existing purchase, if its items and `maxDebit` are the same.
 * @throws PurchaseDiffersError, ReferenceUnusableError
 */
async function findExisting(client: Client, requested: PurchaseInput): Promise<string> {
  const { referenceId } = requested;
  const purchases = createPurchaseReader(client);
  const existing = await purchases.describeIfKnown(referenceId);
  if (!existing) throw new ReferenceUnusableError(referenceId, [`workflow type: expected ${PURCHASE_WORKFLOW}`]);
  const { workflowId, runId } = existing;
  const before = await purchases.startInput({ workflowId, runId });
  const issues = validatePurchase(before);
  if (issues.length > 0) {
    throw new ReferenceUnusableError(referenceId, issues);
  }
  const known = before as PurchaseInput;
  const isSame = hasSameItems(known.items, requested.items) && hasSameMaxDebit(known.maxDebit, requested.maxDebit);
  const detailsOf = ({ items, maxDebit }: PurchaseInput) => ({ items, maxDebit });
  if (!isSame) throw new PurchaseDiffersError(referenceId, detailsOf(known), detailsOf(requested));
  return runId;
}
