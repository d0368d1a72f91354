import { type Client, WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { Activities } from '../../contracts/activities';
import { type DeliveryRequest, fingerprintsOf } from '../../contracts/checkout-events';
import { RESOLVE_UPDATE, resolveUpdateId } from '../../contracts/names';
import { eventIdOf } from '../../contracts/event-id';
import type { Decision } from '../../contracts/purchase';
import type { ReportedFinding } from '../../contracts/reconciliation';
import { type Finding, findingKey, withKeysMissing } from '../../domain/reconciliation/index';
import { isPartnerError, type PartnerClient, withRetry } from '../../partner/index';
import type { PurchaseReader } from '../../temporal/client';
import type { Confirmed } from './confirm';
import { type Started, startDelivery } from './start-delivery';
import { lateDeliveryOf } from './late-delivery';

/** What mending works with. */
export interface RepairContext {
  client: Client;
  taskQueue: string;
  partner: PartnerClient;
  purchases: PurchaseReader;
  getOrder: Activities['getOrder'];
  signal: AbortSignal;
  /** The run of the reconciliation. */
  runId: string;
  /** Look at what would be handed over, and do nothing. */
  dryRun: boolean;
  /** Epoch ms. */
  now(): number;
}

const ANSWER_WITHIN_MS = 30_000;

/**
 * Does about a finding what it allows. What can't be done now is left, with the reason, and the next run tries again.
 *
 * @returns the finding with what was done, or undefined if there turned out to be nothing to do.
 */
export async function handleFinding(
  context: RepairContext,
  confirmed: Confirmed,
): Promise<ReportedFinding | undefined> {
  const handled = await handle(context, confirmed);
  return handled && context.dryRun ? { ...handled, done: 'dry-run' } : handled;
}

async function handle(context: RepairContext, confirmed: Confirmed): Promise<ReportedFinding | undefined> {
  const { finding } = confirmed;
  try {
    if (context.dryRun && finding.repair !== 'deliver-late') return { ...finding, done: 'dry-run' };
    switch (finding.repair) {
      case 'deliver-late':
        return await deliverLate(context, confirmed);
      case 'adopt':
        return await adopt(context, confirmed);
      case 'notify-refund':
        return await notifyRefund(context, confirmed);
      case 'notify-attention':
        return await notifyAttention(context, confirmed);
      default:
        return { ...finding, done: 'left' };
    }
  } catch (error) {
    context.signal.throwIfAborted();
    return left(finding, `it could not be mended now: ${safeMessage(error)}`);
  }
}

/** Hands over the keys that the checkout does not have. */
async function deliverLate(context: RepairContext, confirmed: Confirmed): Promise<ReportedFinding | undefined> {
  const { finding, purchase } = confirmed;
  const [orderId] = finding.orderIds;
  if (!purchase || orderId === undefined) return left(finding, 'its purchase is not known any more');
  const late = await lateDeliveryOf(context, purchase, orderId);
  if (late.doubt !== undefined) return left(finding, late.doubt);
  if (late.deliveries.length === 0) return late.own ? { ...finding, done: 'mended' } : nothingNew(finding);
  const keys = late.deliveries.flatMap(({ request }) => fingerprintsOf(request)).length;
  if (context.dryRun) return { ...finding, done: 'dry-run', note: `keys to hand over: ${keys}` };

  const started: Started[] = [];
  for (const { request, memo } of late.deliveries) started.push(await startDelivery(context, request, memo));
  if (started.includes('failed-before')) {
    return left(finding, 'the checkout did not take its delivery: see the failed deliverWorkflow of this reference');
  }
  const before = started.includes('now') ? '' : ', started by another reconciliation';
  return { ...finding, done: 'mended', note: `keys on their way to the checkout: ${keys}${before}` };
}

/** The order is complete, and yet it holds no key that the checkout does not have. */
function nothingNew(finding: Finding): ReportedFinding | undefined {
  return finding.kind === 'SHORTFALL_FILLED' ? { ...withKeysMissing(finding), done: 'left' } : undefined;
}

/** Tells a held purchase which order is its own. It compares the order with what it asked for by itself. */
async function adopt(context: RepairContext, { finding, purchase }: Confirmed): Promise<ReportedFinding> {
  const hold = purchase?.hold;
  const [orderId] = finding.orderIds;
  if (!purchase || !hold || orderId === undefined) return left(finding, 'it is no longer held');
  if (hold.reason !== 'PLACEMENT_UNKNOWN' || !hold.decisions.includes('order')) {
    return left(finding, `it is held for another reason: ${hold.reason}`);
  }
  const decision: Decision = { hold: hold.id, decision: 'order', orderId };
  // The same decision of two reconciliations is one update, and so it is with a person's.
  const updateId = resolveUpdateId(decision);
  const handle = context.client.workflow.getHandle(purchase.workflowId);
  try {
    await context.client.withDeadline(Date.now() + ANSWER_WITHIN_MS, () =>
      handle.executeUpdate(RESOLVE_UPDATE, { args: [decision], updateId }),
    );
  } catch (error) {
    if (!(error instanceof WorkflowUpdateFailedError) && !(error instanceof WorkflowNotFoundError)) throw error;
    return left(finding, 'somebody else decided a moment ago');
  }
  return { ...finding, done: 'mended', note: `told to adopt ${orderId}` };
}

async function notifyRefund(context: RepairContext, confirmed: Confirmed): Promise<ReportedFinding | undefined> {
  const { finding, orders } = confirmed;
  const [orderId] = finding.orderIds;
  const booked = orders.find((order) => order.id === orderId);
  if (finding.referenceId === undefined || orderId === undefined || !booked)
    return left(finding, 'its order is unknown');
  const { data: order } = await withRetry(context.signal, () => context.partner.getOrder(orderId));
  if (order.status !== booked.status) return left(finding, 'its order has changed while the books were read');
  return notify(context, finding, {
    type: 'purchase.refunded',
    at: new Date(context.now()).toISOString(),
    referenceId: finding.referenceId,
    orderId,
    totalDebit: order.totalDebit,
    reason: finding.explanation,
    deduplicationKey: findingKey(finding),
  });
}

async function notifyAttention(context: RepairContext, { finding, purchase }: Confirmed): Promise<ReportedFinding> {
  const { kind, orderIds, amounts, explanation, advice } = finding;
  const [orderId] = orderIds;
  return notify(context, finding, {
    type: 'purchase.attention',
    at: new Date(context.now()).toISOString(),
    referenceId: finding.referenceId ?? purchase?.referenceId ?? '',
    orderId,
    deduplicationKey: findingKey(finding),
    kind,
    details: { orderIds, explanation, advice, ...amounts },
  });
}

/** Once for each finding: the event's id is made of it. */
async function notify(context: RepairContext, finding: Finding, request: DeliveryRequest): Promise<ReportedFinding> {
  const started = await startDelivery(context, request, { told: findingKey(finding) });
  if (started === 'failed-before') {
    return left(finding, `the checkout did not take the event ${eventIdOf(request)} that tells of it`);
  }
  return { ...finding, done: 'notified', note: `${request.type} ${eventIdOf(request)}` };
}

function left(finding: Finding, note: string): ReportedFinding {
  return { ...finding, done: 'left', note };
}

/** Messages of the partner's client and of our own activities are made of safe facts; others are not repeated. */
function safeMessage(error: unknown): string {
  if (isPartnerError(error) || error instanceof ApplicationFailure) return error.message;
  return error instanceof Error ? error.constructor.name : typeof error;
}
