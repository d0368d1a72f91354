import { WorkflowNotFoundError } from '@temporalio/client';
import type { Activities, DeliveryPlan, KeyDelivery } from '../contracts/activities';
import { type DeliveryRequest, type EventWithKeys, fingerprintsOf, lateDelivery } from '../contracts/checkout-events';
import { FAILURE } from '../contracts/failures';
import { deliverWorkflowId, purchaseWorkflowId } from '../contracts/names';
import type { AcceptedOrder, PurchaseInput } from '../contracts/purchase';
import { PARTNER_ORDER_ID, PURCHASE_STATE } from '../contracts/search-attributes';
import { exactLines } from '../domain/assess-order';
import { keysToSend, type SentKeys } from '../domain/late-keys';
import { fingerprintsByProduct, keyCount, totalQuantity } from '../domain/line-totals';
import type { OrderSnapshot, PurchaseItem } from '../domain/order';
import { endsWithoutKeys, eventTypeOf } from '../domain/outcome';
import { validatePurchase } from '../domain/purchase-rules';
import type { KeyEvent, PurchaseRun, UntracedDelivery } from '../temporal/client';
import type { ActivityDependencies } from './dependencies';
import { failure, toFailure } from './failures';
import { readOrderAfter } from './poll-order';
import { readAccepted } from './reconcile/purchase-memo';

/** Plans what `deliverWorkflow` sends. It only reads, so it may be repeated. */
export function createPlanDeliveryActivities(deps: ActivityDependencies): Pick<Activities, 'planDelivery'> {
  return {
    async planDelivery({ firstRunId, ...delivery }) {
      const { referenceId, previousRunId } = delivery;
      const workflowId = deliverWorkflowId({ referenceId });
      const earlier = [previousRunId, firstRunId].filter((runId) => typeof runId === 'string');
      try {
        const { plan } = await planDelivery(
          deps,
          delivery,
          earlier.map((runId) => ({ workflowId, runId })),
        );
        if (delivery.deliver === 'all' && plan.requests.length === 0) throw nothingToDeliver(whyNothing(plan));
        return plan;
      } catch (error) {
        throw toFailure(error);
      }
    },
  };
}

/** A plan, with what a report says of it. */
export interface PlannedDelivery {
  plan: DeliveryPlan;
  /** How many events an earlier delivery could not deliver, and are not in the plan. */
  failed: number;
  /** How many of the ordered keys are in no event. */
  missing: number;
}

/** An event with keys that was sent before. */
interface SentEvent extends SentKeys {
  request: EventWithKeys;
}

/**
 * Plans what is to be sent of a purchase that has ended, from the order and from every event that was sent before.
 *
 * @param before runs of earlier deliveries that a list may not show yet.
 * @throws ApplicationFailure `NothingToDeliver` when the purchase is running or was given up; PartnerError; whatever Temporal
 *   throws: not knowing what was handed over is no ground to hand it over.
 */
export async function planDelivery(
  deps: Pick<ActivityDependencies, 'partner' | 'fingerprints' | 'purchases' | 'now'>,
  { referenceId, deliver, orderId: wanted }: KeyDelivery,
  before: readonly PurchaseRun[],
): Promise<PlannedDelivery> {
  const purchase = await endedPurchase(deps, referenceId);
  const { sent: traced, untraced } = await sentBefore(deps, referenceId, [purchase.run, ...before]);
  const orderId = wanted ?? purchase.orderId ?? traced.at(-1)?.request.orderId ?? untraced?.orderId;
  const { items } = purchase;
  // What was accepted holds for the order that was shown then, and how much of it is missing only the order says.
  const accepted = purchase.accepted?.orderId === orderId ? purchase.accepted : undefined;
  const isShort = keyCount(traced.filter(isReceived)) < totalQuantity(items);
  const isRead = orderId !== undefined && (deliver === 'new' || isShort || accepted !== undefined);
  const requests = traced.map(({ request }) => request);
  const perhaps = untraced?.orderId === orderId ? untraced : undefined;
  const order = isRead ? await readOrderAfter(deps, { orderId, referenceId }, requests, perhaps) : undefined;
  const sent = order && perhaps ? [...traced, ...untracedEvent(referenceId, purchase, order, perhaps)] : traced;

  const { repeat, lines, ordered, missing, issue } = keysToSend(deliver, { items, accepted }, order, sent);
  const ofOrder = repeat.filter(({ request }) => request.orderId === orderId);
  const at = new Date(deps.now()).toISOString();
  const late =
    order && lines.length > 0
      ? [lateDelivery({ at, referenceId, orderId: order.orderId, lines, totalDebit: order.totalDebit })]
      : [];
  const withKeys = [...ofOrder.map(({ request }) => request), ...late];
  const outcome = deliver === 'all' && withKeys.length === 0 ? await outcomeWithoutKeys(deps, purchase.run) : [];
  const plan: DeliveryPlan = {
    requests: [...withKeys, ...outcome],
    received: fingerprintsByProduct(
      sent.filter((event) => isReceived(event) && !ofOrder.includes(event)).flatMap(({ request }) => request.lines),
    ),
    ordered,
    orderId,
    order: order && { id: order.orderId, status: order.status, issue },
  };
  return { plan, failed: sent.filter(({ state }) => state === 'failed').length, missing };
}

interface EndedPurchase {
  run: PurchaseRun;
  items: PurchaseItem[];
  orderId?: string;
  accepted?: AcceptedOrder;
}

/** The purchase as the server knows it at this moment. A run after a reset delivers by itself. */
async function endedPurchase(
  { purchases }: Pick<ActivityDependencies, 'purchases'>,
  referenceId: string,
): Promise<EndedPurchase> {
  const description = await purchases.describe(referenceId).catch((error: unknown) => {
    throw error instanceof WorkflowNotFoundError ? nothingToDeliver('the purchase is no longer known') : error;
  });
  const { workflowId, runId, status, memo, typedSearchAttributes: attributes } = description;
  if (status.name === 'RUNNING') throw nothingToDeliver('the purchase is running, and delivers by itself');
  const state = attributes.get(PURCHASE_STATE);
  if (status.name === 'COMPLETED' && endsWithoutKeys(state)) throw nothingToDeliver(`the purchase ended ${state}`);
  const input = await purchases.startInput({ workflowId, runId });
  if (validatePurchase(input).length > 0) throw nothingToDeliver('the purchase was started with an invalid input');
  const { items } = input as PurchaseInput;
  const run = { workflowId, runId, status: status.name };
  return { run, items, orderId: attributes.get(PARTNER_ORDER_ID), accepted: readAccepted(memo) };
}

async function sentBefore(
  { purchases }: Pick<ActivityDependencies, 'purchases'>,
  referenceId: string,
  also: PurchaseRun[],
): Promise<{ sent: SentEvent[]; untraced: UntracedDelivery | undefined }> {
  const { events, untraced } = await purchases.keyEvents(referenceId, { also });
  const sent = events.map((event) => ({
    request: event.request,
    fingerprints: fingerprintsOf(event.request),
    state: stateOf(event, referenceId),
  }));
  return { sent, untraced };
}

/**
 * The event that the purchase may have handed over without a trace, made as the purchase itself makes it: under any other id its
 * keys could arrive a second time.
 */
function untracedEvent(
  referenceId: string,
  { items }: EndedPurchase,
  order: OrderSnapshot,
  { at, orderId }: UntracedDelivery,
): SentEvent[] {
  const lines = exactLines(items, order);
  if (!lines) return [];
  const { totalDebit } = order;
  const outcome = 'DELIVERED';
  const request = { at, referenceId, orderId, type: eventTypeOf(outcome), outcome, lines, totalDebit } as const;
  return [{ request, fingerprints: fingerprintsOf(request), state: 'lost' }];
}

/** No other run can be sending it now: the purchase has ended, and only one delivery runs at a time. */
function stateOf({ received, sentBy }: KeyEvent, referenceId: string): SentKeys['state'] {
  if (received) return 'received';
  const isLost = sentBy.every(({ run }) => run.workflowId === purchaseWorkflowId(referenceId));
  return isLost ? 'lost' : 'failed';
}

/** How the purchase ended, if that went out without a key: the event that is repeated where there are no keys to send. */
async function outcomeWithoutKeys(
  { purchases }: Pick<ActivityDependencies, 'purchases'>,
  run: PurchaseRun,
): Promise<DeliveryRequest[]> {
  const events = await purchases.sentEvents(run);
  const isOutcome = (request: DeliveryRequest) => 'lines' in request && request.type !== 'purchase.late_delivery';
  const closing = events.findLast(({ request, received }) => received && isOutcome(request));
  return closing && fingerprintsOf(closing.request).length === 0 ? [closing.request] : [];
}

function isReceived({ state }: SentEvent): boolean {
  return state === 'received';
}

function whyNothing({ order }: DeliveryPlan): string {
  return order ? `no event was sent, and its order ${order.id} is ${order.status}` : 'no event was sent';
}

function nothingToDeliver(why: string) {
  return failure(FAILURE.nothingToDeliver, why, { final: true });
}
