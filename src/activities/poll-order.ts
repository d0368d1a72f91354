import { activityInfo, log } from '@temporalio/activity';
import type { Activities, GetOrderInput, PolledOrder } from '../contracts/activities';
import { type EarlierEvent, type EventWithKeys, fingerprintsOf } from '../contracts/checkout-events';
import { FAILURE } from '../contracts/failures';
import { deliverWorkflowId, purchaseWorkflowId } from '../contracts/names';
import { endsPolling, type Key, mayHaveKeys, type OrderSnapshot, presentableStatus } from '../domain/order';
import { isPartnerError, type Order } from '../partner';
import { ACCESS_REFUSED, failure, secretMissing, toFailure, unchanged } from './failures';
import type { ActivityDependencies } from './dependencies';
import { readTurn } from './read-turn';

/** An attempt that begins this close to the deadline leaves the poll to the workflow, which makes one at the deadline. */
const CLOSING_MS = 250;

/** Polls an order. That is free to repeat, so both may be retried, paused, reset or run twice without harm. */
export function createPollOrderActivities(
  deps: ActivityDependencies,
): Pick<Activities, 'awaitOrderChange' | 'getOrder'> {
  return {
    async awaitOrderChange(input) {
      const pause = pauseTo(deps, input.intervalMs);
      if (activityInfo().attempt === 1 && input.firstDelayMs > 0) {
        throw unchanged(`first poll in ${seconds(input.firstDelayMs)}`, pauseTo(deps, input.firstDelayMs));
      }
      if (remaining(deps) < CLOSING_MS) throw unchanged('the deadline has come', input.intervalMs);

      const order = await readOrder(deps, input, pause);
      if (order.status === input.known) throw unchanged(`still ${order.status}; next poll in ${seconds(pause)}`, pause);
      return order;
    },
    async getOrder(input) {
      return readOrder(deps, input);
    },
  };
}

async function readOrder(deps: ActivityDependencies, input: GetOrderInput, pause?: number): Promise<PolledOrder> {
  const { orderId, referenceId } = input;
  let order: Order;
  let earlier: EarlierEvent[] | undefined;
  // The poll at the deadline and the one that a decision asks for end a purchase: they are as urgent as a delivery.
  const turn = readTurn(deps, pause === undefined ? 'delivery' : 'poll', orderId);
  try {
    const answer = await deps.partner.inTurn(turn, (partner) => partner.getOrder(orderId));
    order = answer.data;
    if (mayHaveKeys(order.status)) earlier = await eventsBefore(deps, input, pause);
  } catch (error) {
    if (pause !== undefined && isPartnerError(error) && error.kind === 'not-found') {
      throw unchanged(`the partner does not show ${orderId} yet; next poll in ${seconds(pause)}`, pause);
    }
    if (isPartnerError(error) && error.kind === 'access') log.error(ACCESS_REFUSED, { why: error.message });
    throw toFailure(error, pause, (turnInMs) => pauseTo(deps, turnInMs));
  }
  const requests = (earlier ?? []).map(({ request }) => request);
  const snapshot = await withClaim(deps, referenceId, snapshotOf(orderId, order, namesOf(deps, requests)));
  return endsPolling(snapshot.status) ? { ...snapshot, earlier } : snapshot;
}

type ReadDependencies = Pick<ActivityDependencies, 'partner' | 'fingerprints' | 'purchases' | 'now'>;

/**
 * Reads an order once, whose keys keep the fingerprints that they had in earlier events.
 *
 * @throws PartnerError; ApplicationFailure when the secret that made a fingerprint is not here any more.
 */
export async function readOrderAfter(
  deps: ReadDependencies,
  { orderId, referenceId }: GetOrderInput,
  earlier: readonly EventWithKeys[],
): Promise<OrderSnapshot> {
  const turn = readTurn(deps, 'delivery', orderId);
  const { data: order } = await deps.partner.inTurn(turn, (partner) => partner.getOrder(orderId));
  return withClaim(deps, referenceId, snapshotOf(orderId, order, namesOf(deps, earlier)));
}

async function withClaim(
  { purchases }: ReadDependencies,
  referenceId: string,
  snapshot: OrderSnapshot,
): Promise<OrderSnapshot> {
  if (!endsPolling(snapshot.status)) return snapshot;
  const [claimedBy] = await purchases.othersWithOrder(snapshot.orderId, referenceId);
  return { ...snapshot, claimedBy };
}

/** A run after a reset does not know what the runs before it handed over; only polls in such a run ask. */
async function eventsBefore(
  deps: ActivityDependencies,
  input: GetOrderInput,
  pause: number | undefined,
): Promise<EarlierEvent[] | undefined> {
  const runId = activityInfo().workflowExecution?.runId;
  const { orderId, referenceId, firstRunId } = input;
  if (runId === undefined || firstRunId === undefined || runId === firstRunId) return undefined;
  // The first run is found without a list, which lags; later ones are minutes old before anybody resets again.
  const firstRun = { workflowId: purchaseWorkflowId(referenceId), runId: firstRunId };
  const later = await deps.purchases.latestDelivery(referenceId);
  if (later?.status === 'RUNNING') {
    const message = `a delivery of this reference is on its way: workflow ${deliverWorkflowId({ referenceId })}`;
    throw failure(FAILURE.deliveryOnItsWay, message, { retryInMs: pause });
  }
  const events = await deps.purchases.keyEvents(referenceId, {
    also: later ? [firstRun, later] : [firstRun],
    exceptRunId: runId,
    skipForgotten: true,
  });
  return events
    .filter(({ request }) => request.orderId === orderId)
    .map(({ id, request, received }) => ({ request, eventId: received ? id : undefined }));
}

/** A key that went out before keeps the fingerprint it had then, whichever secret is the newest now. */
function namesOf({ fingerprints }: ReadDependencies, earlier: readonly EventWithKeys[]): (key: Key) => string {
  const before = new Set(earlier.flatMap(fingerprintsOf));
  const models = new Map([...before].map((fingerprint) => [fingerprint.split('.')[0], fingerprint]));
  return (key) => {
    for (const model of models.values()) {
      const name = fingerprints.like(model, key);
      if (name === undefined) throw secretMissing(model);
      if (before.has(name)) return name;
    }
    return fingerprints.newest(key);
  };
}

/** Everything of an order but its keys, which are named by their fingerprints once they may be handed over. */
function snapshotOf(orderId: string, order: Order, nameOf: (key: Key) => string): OrderSnapshot {
  const status = presentableStatus(order.status);
  return {
    orderId,
    status,
    lines: order.products.map((product) => ({
      productId: product.id,
      title: product.title,
      quantity: product.quantity,
      fingerprints: mayHaveKeys(status) ? product.keys.map(nameOf) : [],
    })),
    totalDebit: order.totalDebit,
  };
}

/**
 * The pause before the next poll, clamped so that the last one ends at the deadline: the server would else give up a whole
 * interval early.
 */
function pauseTo(deps: ActivityDependencies, wanted: number): number {
  const left = remaining(deps) - CLOSING_MS / 2;
  return left > 0 ? Math.min(wanted, left) : wanted;
}

function remaining(deps: ActivityDependencies): number {
  const info = activityInfo();
  if (info.scheduleToCloseTimeoutMs <= 0) return Infinity;
  return info.scheduledTimestampMs + info.scheduleToCloseTimeoutMs - deps.now();
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}
