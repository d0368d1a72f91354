import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import {
  type DeliveryReceipt,
  type DeliveryRequest,
  fingerprintsOf,
  lateDelivery,
} from '../../contracts/checkout-events';
import type { PurchaseInput } from '../../contracts/purchase';
import { newKeysOf } from '../../domain/late-keys';
import { validatePurchase } from '../../domain/purchase-rules';
import type { KnownPurchase } from '../../domain/reconciliation/index';
import { eventIdOf } from '../deliver-event';
import type { RepairContext } from './repair';
import type { LateMemo } from './purchase-lists';

interface Run {
  workflowId: string;
  runId: string;
}

/** Reads with what a workflow was started and what it told the checkout from its history. */
export interface Histories {
  startedWith(client: Client, run: Run): Promise<unknown>;
  /** Oldest first; `receipt` if the checkout has it. */
  toldEvents(client: Client, run: Run): Promise<{ request: DeliveryRequest; receipt?: DeliveryReceipt }[]>;
}

/** What is to be delivered of an order: nothing, events, or a reason why a person must look. */
export interface LateDelivery {
  deliveries: { request: DeliveryRequest; memo: LateMemo }[];
  doubt?: string;
  /** This run has delivered it before its worker died. */
  own?: boolean;
}

/**
 * Finds what the checkout does not have of an order: events that were on their way when their purchase was stopped, word
 * for word as they were, and keys that no event named, in a new one. What any run of the purchase or any delivery after it
 * ever sent counts as handed over, received or not: it may have arrived.
 */
export async function lateDeliveryOf(
  context: RepairContext,
  purchase: KnownPurchase,
  orderId: string,
): Promise<LateDelivery> {
  const { client, histories } = context;
  const input = await histories.startedWith(client, purchase);
  if (validatePurchase(input).length > 0) return doubt('it was started with what is no purchase');
  const { items } = input as PurchaseInput;
  const { referenceId } = purchase;

  const sent = await sentBefore(context, purchase);
  const fates = new Set([...sent.values()].map((event) => event.fate));
  if (fates.has('failed')) {
    return doubt('the checkout did not take its delivery: see the failed deliverWorkflow of this reference');
  }
  if (fates.has('on its way')) return doubt('its keys are on their way to the checkout');
  const handedOver = [...sent.values()].flatMap(({ request }) => fingerprintsOf(request));
  const order = await context.getOrder({ orderId, referenceId });
  const fresh = newKeysOf(items, order, handedOver);
  if (fresh.doubt !== undefined) return doubt(fresh.doubt);
  if (fresh.open) return doubt(`its order is ${order.status} now`);

  const { totalDebit, status } = order;
  const at = new Date(context.now()).toISOString();
  const { lines } = fresh;
  const late = lines.length > 0 ? [lateDelivery({ at, referenceId, orderId, lines, totalDebit })] : [];
  const ordered = items.reduce((total, item) => total + item.quantity, 0);
  const deliveries = [...sent.values()]
    .filter(({ fate }) => fate === 'lost')
    .map(({ request }) => request)
    .concat(late)
    .map((request) => ({ request, memo: { ordered, orderId, lastSeen: status, handedOver: byProduct(request) } }));
  return { deliveries, own: [...sent.values()].some((event) => event.fate === 'own') };
}

/**
 * What became of an event. `lost`: nobody knows whether it arrived, and nobody tries any more. `failed`: a delivery of its own
 * has tried for a day, or was refused. `own`: this very run had it delivered.
 */
type DeliveryState = 'received' | 'own' | 'on its way' | 'failed' | 'lost';

interface Sent {
  request: DeliveryRequest;
  fate: DeliveryState;
}

/** Of several tries at one event the luckiest counts. */
const DELIVERY_STATES: readonly DeliveryState[] = ['own', 'received', 'on its way', 'failed', 'lost'];

/** Every event with keys that was ever sent for this reference, once. */
async function sentBefore(context: RepairContext, purchase: KnownPurchase): Promise<Map<string, Sent>> {
  const { client, histories } = context;
  const runs = new Map<string, { run: Run; fate: DeliveryState }>();
  runs.set(purchase.runId, { run: purchase, fate: purchase.execution === 'RUNNING' ? 'on its way' : 'lost' });
  for await (const run of client.workflow.list({ query: `ReferenceId = '${purchase.referenceId}'` })) {
    runs.set(run.runId, { run, fate: deliveryStateIn(run, purchase, context.runId) });
  }
  const sent = new Map<string, Sent>();
  for (const { run, fate } of runs.values()) {
    for (const { request, receipt } of await histories.toldEvents(client, run)) {
      if (fingerprintsOf(request).length === 0) continue;
      const id = eventIdOf(request);
      const before = sent.get(id)?.fate ?? 'lost';
      const now = receipt && fate !== 'own' ? 'received' : fate;
      sent.set(id, { request, fate: DELIVERY_STATES.indexOf(now) < DELIVERY_STATES.indexOf(before) ? now : before });
    }
  }
  return sent;
}

/** What becomes of an event without a receipt in this run. */
function deliveryStateIn(run: WorkflowExecutionInfo, purchase: KnownPurchase, ownRunId: string): DeliveryState {
  const { reconciled } = (run.memo ?? {}) as { reconciled?: LateMemo };
  const running = run.status.name === 'RUNNING';
  if (reconciled?.by === ownRunId && (running || run.status.name === 'COMPLETED')) return 'own';
  if (running) return 'on its way';
  return run.workflowId === purchase.workflowId ? 'lost' : 'failed';
}

function byProduct(request: DeliveryRequest): Record<string, string[]> {
  return Object.fromEntries(
    ('lines' in request ? request.lines : []).map((line) => [line.productId, line.fingerprints]),
  );
}

function doubt(why: string): LateDelivery {
  return { deliveries: [], doubt: why };
}
