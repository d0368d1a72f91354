import { type Client, WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { type Activities, type DeliveryRequest, fingerprintsOf } from '../../contracts/activities';
import { RESOLVE_UPDATE } from '../../contracts/names';
import type { Decision } from '../../contracts/purchase';
import type { TreatedFinding } from '../../contracts/reconciliation';
import { type Finding, findingKey, withKeysMissing } from '../../domain/reconciliation';
import { isPartnerError, type PartnerClient } from '../../partner';
import type { Confirmed } from './confirming';
import { eventIdOf } from '../delivering';
import { type Started, startDelivery } from './deliveries';
import { type Histories, lateDeliveryOf } from './late-delivery';
import { patiently } from './patience';

/** What mending works with. */
export interface Tools {
  client: Client;
  taskQueue: string;
  partner: PartnerClient;
  histories: Histories;
  lookAtOrder: Activities['lookAtOrder'];
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
export async function mend(tools: Tools, confirmed: Confirmed): Promise<TreatedFinding | undefined> {
  const treated = await treat(tools, confirmed);
  return treated && tools.dryRun ? { ...treated, done: 'dry-run' } : treated;
}

async function treat(tools: Tools, confirmed: Confirmed): Promise<TreatedFinding | undefined> {
  const { finding } = confirmed;
  try {
    if (tools.dryRun && finding.mend !== 'deliver-late') return { ...finding, done: 'dry-run' };
    switch (finding.mend) {
      case 'deliver-late':
        return await deliverLate(tools, confirmed);
      case 'adopt':
        return await adopt(tools, confirmed);
      case 'tell-refund':
        return await tellRefund(tools, confirmed);
      case 'tell-attention':
        return await tellAttention(tools, confirmed);
      default:
        return { ...finding, done: 'left' };
    }
  } catch (error) {
    tools.signal.throwIfAborted();
    return left(finding, `it could not be mended now: ${inSafeWords(error)}`);
  }
}

/** Hands over the keys that the checkout does not have. */
async function deliverLate(tools: Tools, confirmed: Confirmed): Promise<TreatedFinding | undefined> {
  const { finding, purchase } = confirmed;
  const [orderId] = finding.orderIds;
  if (!purchase || orderId === undefined) return left(finding, 'its purchase is not known any more');
  const late = await lateDeliveryOf(tools, purchase, orderId);
  if (late.doubt !== undefined) return left(finding, late.doubt);
  if (late.deliveries.length === 0) return late.own ? { ...finding, done: 'mended' } : nothingNew(finding);
  const keys = late.deliveries.flatMap(({ request }) => fingerprintsOf(request)).length;
  if (tools.dryRun) return { ...finding, done: 'dry-run', note: `keys to hand over: ${keys}` };

  const started: Started[] = [];
  for (const { request, memo } of late.deliveries) started.push(await startDelivery(tools, request, memo));
  if (started.includes('failed-before')) {
    return left(finding, 'the checkout did not take its delivery: see the failed deliverWorkflow of this reference');
  }
  const before = started.includes('now') ? '' : ', started by another reconciliation';
  return { ...finding, done: 'mended', note: `keys on their way to the checkout: ${keys}${before}` };
}

/** The order is complete, and yet it holds no key that the checkout does not have. */
function nothingNew(finding: Finding): TreatedFinding | undefined {
  return finding.kind === 'SHORTFALL_FILLED' ? { ...withKeysMissing(finding), done: 'left' } : undefined;
}

/** Tells a held purchase which order is its own. It compares the order with what it asked for by itself. */
async function adopt(tools: Tools, { finding, purchase }: Confirmed): Promise<TreatedFinding> {
  const hold = purchase?.hold;
  const [orderId] = finding.orderIds;
  if (!purchase || !hold || orderId === undefined) return left(finding, 'it is no longer held');
  if (hold.reason !== 'PLACEMENT_UNKNOWN' || !hold.decisions.includes('order')) {
    return left(finding, `it is held for another reason: ${hold.reason}`);
  }
  const decision: Decision = { hold: hold.id, decision: 'order', orderId };
  // The same decision of two reconciliations is one update, and so it is with a person's.
  const updateId = [hold.id, 'order', orderId].join(' ');
  const handle = tools.client.workflow.getHandle(purchase.workflowId);
  try {
    await tools.client.withDeadline(Date.now() + ANSWER_WITHIN_MS, () =>
      handle.executeUpdate(RESOLVE_UPDATE, { args: [decision], updateId }),
    );
  } catch (error) {
    if (!(error instanceof WorkflowUpdateFailedError) && !(error instanceof WorkflowNotFoundError)) throw error;
    return left(finding, 'somebody else decided a moment ago');
  }
  return { ...finding, done: 'mended', note: `told to adopt ${orderId}` };
}

async function tellRefund(tools: Tools, confirmed: Confirmed): Promise<TreatedFinding | undefined> {
  const { finding, orders } = confirmed;
  const [orderId] = finding.orderIds;
  const booked = orders.find((order) => order.id === orderId);
  if (finding.referenceId === undefined || orderId === undefined || !booked)
    return left(finding, 'its order is unknown');
  const { data: order } = await patiently(tools.signal, () => tools.partner.getOrder(orderId));
  if (order.status !== booked.status) return left(finding, 'its order has changed while the books were read');
  return tell(tools, finding, {
    type: 'purchase.refunded',
    at: new Date(tools.now()).toISOString(),
    referenceId: finding.referenceId,
    orderId,
    ...(order.totalDebit !== undefined && { totalDebit: order.totalDebit }),
    reason: finding.explanation,
    occasion: findingKey(finding),
  });
}

async function tellAttention(tools: Tools, { finding, purchase }: Confirmed): Promise<TreatedFinding> {
  const { kind, orderIds, amounts, explanation, advice } = finding;
  const [orderId] = orderIds;
  return tell(tools, finding, {
    type: 'purchase.attention',
    at: new Date(tools.now()).toISOString(),
    referenceId: finding.referenceId ?? purchase?.referenceId ?? '',
    ...(orderId !== undefined && { orderId }),
    occasion: findingKey(finding),
    attention: { kind, details: { orderIds, explanation, advice, ...amounts } },
  });
}

/** Once for each finding: the event's id is made of it. */
async function tell(tools: Tools, finding: Finding, request: DeliveryRequest): Promise<TreatedFinding> {
  const started = await startDelivery(tools, request, { told: findingKey(finding) });
  if (started === 'failed-before') {
    return left(finding, `the checkout did not take the event ${eventIdOf(request)} that tells of it`);
  }
  return { ...finding, done: 'told', note: `${request.type} ${eventIdOf(request)}` };
}

function left(finding: Finding, note: string): TreatedFinding {
  return { ...finding, done: 'left', note };
}

/** Messages of the partner's client and of our own activities are made of safe facts; others are not repeated. */
function inSafeWords(error: unknown): string {
  if (isPartnerError(error) || error instanceof ApplicationFailure) return error.message;
  return error instanceof Error ? error.constructor.name : typeof error;
}
