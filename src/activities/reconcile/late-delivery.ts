import { type DeliveryRequest, fingerprintsOf, lateDelivery } from '../../contracts/checkout-events';
import type { PurchaseInput } from '../../contracts/purchase';
import { newKeysOf } from '../../domain/late-keys';
import { validatePurchase } from '../../domain/purchase-rules';
import type { KnownPurchase } from '../../domain/reconciliation/index';
import type { KeyEvent, PurchaseRun } from '../../temporal/client';
import type { RepairContext } from './repair-context';
import type { LateMemo } from './purchase-lists';

/** Why a late delivery that has failed once is left to people. */
export const LATE_DELIVERY_FAILED =
  'the checkout did not receive its late delivery: see the failed deliverWorkflow of this reference';

/** The events that an order still needs. */
export interface LateDelivery {
  deliveries: { request: DeliveryRequest; memo: LateMemo }[];
  /** Why nothing may be delivered now. */
  issue?: string;
  /** This run delivered some of it before its worker died. */
  own?: boolean;
}

/**
 * Finds what the checkout does not have of an order: events that were on their way when their purchase was stopped, which are
 * repeated unchanged, and keys that no event names, in a new event. The keys of every event that any run of the purchase or
 * any later delivery sent count as handed over, received or not, because they may have arrived.
 */
export async function lateDeliveryOf(
  context: RepairContext,
  purchase: KnownPurchase,
  orderId: string,
): Promise<LateDelivery> {
  const input = await context.purchases.startInput(purchase);
  if (validatePurchase(input).length > 0) return refused('it was started with an invalid input');
  const { items } = input as PurchaseInput;
  const { referenceId } = purchase;

  const sent = await sentBefore(context, purchase);
  const states = new Set(sent.map(({ state }) => state));
  if (states.has('failed')) return refused(LATE_DELIVERY_FAILED);
  if (states.has('on its way')) return refused('its keys are on their way to the checkout');
  const handedOver = sent.flatMap(({ request }) => fingerprintsOf(request));
  const order = await context.getOrder({ orderId, referenceId });
  const fresh = newKeysOf(items, order, handedOver);
  if (fresh.issue !== undefined) return refused(fresh.issue);
  if (fresh.open) return refused(`its order is ${order.status} now`);

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
 * The state of an event that was sent. `lost`: it is unknown whether it arrived, and it is not sent any more. `failed`: its
 * delivery was refused or has tried for a day. `own`: this run of the reconciliation had it delivered.
 */
type DeliveryState = 'received' | 'own' | 'on its way' | 'failed' | 'lost';

interface Sent {
  request: DeliveryRequest;
  state: DeliveryState;
}

/** Of several deliveries of one event the best state counts: best first. */
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

/** The state of an event that a run sent without a receipt. */
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

function refused(issue: string): LateDelivery {
  return { deliveries: [], issue };
}
