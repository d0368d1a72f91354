import { type DeliveryRequest, fingerprintsOf, lateDelivery } from '../../contracts/checkout-events';
import type { PurchaseInput } from '../../contracts/purchase';
import { newKeysOf } from '../../domain/late-keys';
import { validatePurchase } from '../../domain/purchase-rules';
import type { KnownPurchase } from '../../domain/reconciliation/index';
import type { KeyEvent, PurchaseRun } from '../../temporal/client';
import type { RepairContext } from './repair-context';
import type { LateMemo } from './purchase-lists';

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
  const input = await context.purchases.startInput(purchase);
  if (validatePurchase(input).length > 0) return doubt('it was started with what is no purchase');
  const { items } = input as PurchaseInput;
  const { referenceId } = purchase;

  const sent = await sentBefore(context, purchase);
  const states = new Set(sent.map(({ state }) => state));
  if (states.has('failed')) {
    return doubt('the checkout did not take its delivery: see the failed deliverWorkflow of this reference');
  }
  if (states.has('on its way')) return doubt('its keys are on their way to the checkout');
  const handedOver = sent.flatMap(({ request }) => fingerprintsOf(request));
  const order = await context.getOrder({ orderId, referenceId });
  const fresh = newKeysOf(items, order, handedOver);
  if (fresh.issue !== undefined) return doubt(fresh.issue);
  if (fresh.open) return doubt(`its order is ${order.status} now`);

  const { totalDebit, status } = order;
  const at = new Date(context.now()).toISOString();
  const { lines } = fresh;
  const late = lines.length > 0 ? [lateDelivery({ at, referenceId, orderId, lines, totalDebit })] : [];
  const ordered = items.reduce((total, item) => total + item.quantity, 0);
  const deliveries = sent
    .filter(({ state }) => state === 'lost')
    .map(({ request }) => request)
    .concat(late)
    .map((request) => ({ request, memo: { ordered, orderId, lastSeen: status, handedOver: byProduct(request) } }));
  return { deliveries, own: states.has('own') };
}

/**
 * What became of an event. `lost`: nobody knows whether it arrived, and nobody tries any more. `failed`: a delivery of its own
 * has tried for a day, or was refused. `own`: this very run had it delivered.
 */
type DeliveryState = 'received' | 'own' | 'on its way' | 'failed' | 'lost';

interface Sent {
  request: DeliveryRequest;
  state: DeliveryState;
}

/** Of several tries at one event the best counts. */
const DELIVERY_STATES: readonly DeliveryState[] = ['own', 'received', 'on its way', 'failed', 'lost'];

/** Every event with keys that was ever sent for this reference, once. */
async function sentBefore(context: RepairContext, purchase: KnownPurchase): Promise<Sent[]> {
  const { workflowId, runId, execution, referenceId } = purchase;
  const also = [{ workflowId, runId, status: execution }];
  const events = await context.purchases.keyEvents(referenceId, { also });
  return events.map((event) => ({ request: event.request, state: stateOf(event, purchase, context.runId) }));
}

function stateOf({ sentBy }: KeyEvent, purchase: KnownPurchase, ownRunId: string): DeliveryState {
  const states = sentBy.map(({ run, received }) => {
    const state = stateWithoutReceipt(run, purchase, ownRunId);
    return received && state !== 'own' ? 'received' : state;
  });
  return DELIVERY_STATES.find((state) => states.includes(state)) ?? 'lost';
}

/** What becomes of an event that this run sent and has no receipt for. */
function stateWithoutReceipt(run: PurchaseRun, purchase: KnownPurchase, ownRunId: string): DeliveryState {
  const { reconciled } = (run.memo ?? {}) as { reconciled?: LateMemo };
  const running = run.status === 'RUNNING';
  if (reconciled?.by === ownRunId && (running || run.status === 'COMPLETED')) return 'own';
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
