import { activityInfo, log } from '@temporalio/activity';
import type { Activities, GetOrderInput, PolledOrder } from '../contracts/activities';
import { type EarlierEvent, type EventWithKeys, fingerprintsOf } from '../contracts/checkout-events';
import { FAILURE } from '../contracts/failures';
import { deliverWorkflowId, purchaseWorkflowId } from '../contracts/names';
import {
  endsPolling,
  type Key,
  mayHaveEnded,
  mayHaveKeys,
  type OrderSnapshot,
  presentableStatus,
} from '../domain/order';
import { secretIdOf } from '../delivery';
import { isPartnerError, type Order, type PermitRequest } from '../partner';
import { createCallWatcher } from './call-watcher';
import { ACCESS_REFUSED, failure, laterRun, secretMissing, toFailure, unchanged } from './failures';
import type { UntracedDelivery } from '../temporal/client';
import type { ActivityDependencies } from './dependencies';
import { readTurn } from './read-turn';

/** An attempt that begins this close to the deadline leaves the poll to the workflow, which makes one at the deadline. */
const CLOSING_MS = 250;

/** Polls an order. That is free to repeat, so both may be retried, paused, reset or run twice without harm. */
export function createPollOrderActivities(
  deps: ActivityDependencies,
): Pick<Activities, 'awaitOrderChange' | 'getOrder'> {
  const callWatcher = createCallWatcher(deps);
  return {
    async awaitOrderChange(input) {
      const pause = pauseTo(deps, input.intervalMs);
      if (activityInfo().attempt === 1 && input.firstDelayMs > 0) {
        throw unchanged(`next poll in ${seconds(input.firstDelayMs)}`, pauseTo(deps, input.firstDelayMs));
      }
      if (remaining(deps) < CLOSING_MS) throw unchanged('the deadline has come', input.intervalMs);

      const { watched, orderId } = input;
      // A poll that failed is not put off as long as the next one that nobody asked for.
      const order = await readOrder(deps, input, watched ? pauseTo(deps, watched.intervalMs) : pause);
      if (endsPolling(order.status)) return order;
      if (watched) void callWatcher(activityInfo().taskQueue);
      if (mayHaveEnded(order.status)) log.warn('an undocumented status', { orderId, status: order.status });
      throw unchanged(`still ${order.status}; next poll in ${seconds(pause)}`, pause);
    },
    async getOrder(input) {
      const { isLocal, workflowExecution, taskQueue } = activityInfo();
      if (isLocal && workflowExecution?.runId !== input.firstRunId) throw laterRun();
      const pause = isLocal ? undefined : input.watched && pauseTo(deps, input.watched.intervalMs);
      const order = await readOrder(deps, input, pause);
      if (input.watched && !endsPolling(order.status)) void callWatcher(taskQueue);
      return order;
    },
  };
}

async function readOrder(deps: ActivityDependencies, input: GetOrderInput, pause?: number): Promise<PolledOrder> {
  const { orderId, referenceId } = input;
  let order: Order;
  let before: DeliveredBefore | undefined;
  const { isLocal } = activityInfo();
  // The poll at the deadline and the one that a decision asks for end a purchase: they are as urgent as a delivery.
  const ask = readTurn(deps, pause === undefined && !isLocal ? 'delivery' : 'poll');
  try {
    order = await poll(deps, ask, orderId);
    if (mayHaveKeys(order.status)) before = await deliveredBefore(deps, input, pause);
  } catch (error) {
    if (pause !== undefined && isPartnerError(error) && error.kind === 'not-found') {
      throw unchanged(`the partner does not show ${orderId} yet; next poll in ${seconds(pause)}`, pause);
    }
    if (isPartnerError(error) && error.kind === 'access') log.error(ACCESS_REFUSED, { why: error.message });
    throw toFailure(error, pause, (wanted) => pauseTo(deps, wanted));
  }
  const { earlier, untraced } = before ?? {};
  if (untraced) requireSecret(deps, untraced.fingerprintSecretId);
  const secretId = untraced?.fingerprintSecretId ?? input.fingerprintSecretId;
  const requests = (earlier ?? []).map(({ request }) => request);
  const snapshot = await withClaim(deps, referenceId, snapshotOf(orderId, order, namesOf(deps, requests, secretId)));
  const polledAt = untraced?.at ?? new Date(deps.now()).toISOString();
  return endsPolling(snapshot.status) ? { ...snapshot, polledAt, earlier } : snapshot;
}

async function poll({ partner, metrics }: ActivityDependencies, ask: PermitRequest, orderId: string): Promise<Order> {
  try {
    const { data: order } = await partner.withPermits(ask, (permitted) => permitted.getOrder(orderId));
    metrics.count('fulfilment_polls', { result: endsPolling(order.status) ? 'ended' : 'open' });
    return order;
  } catch (error) {
    // Without a permit under PARTNER_MAX_RPS there was no poll.
    const wasSent = !isPartnerError(error) || error.permitInMs === undefined;
    if (wasSent) metrics.count('fulfilment_polls', { result: 'failed' });
    throw error;
  }
}

type ReadDependencies = Pick<ActivityDependencies, 'partner' | 'fingerprints' | 'purchases' | 'now'>;

/**
 * Reads an order once, whose keys keep the fingerprints that they had in earlier events.
 *
 * @param untraced what may have gone out without a trace: its secret makes the fingerprints.
 * @throws PartnerError; ApplicationFailure when the secret that made a fingerprint is not here any more.
 */
export async function readOrderAfter(
  deps: ReadDependencies,
  { orderId, referenceId }: GetOrderInput,
  earlier: readonly EventWithKeys[],
  untraced?: UntracedDelivery,
): Promise<OrderSnapshot> {
  const secretId = untraced?.fingerprintSecretId;
  if (secretId !== undefined) requireSecret(deps, secretId);
  const ask = readTurn(deps, 'delivery');
  const { data: order } = await deps.partner.withPermits(ask, (partner) => partner.getOrder(orderId));
  return withClaim(deps, referenceId, snapshotOf(orderId, order, namesOf(deps, earlier, secretId)));
}

async function withClaim(
  { purchases }: ReadDependencies,
  referenceId: string,
  snapshot: OrderSnapshot,
): Promise<OrderSnapshot> {
  if (!endsPolling(snapshot.status)) return snapshot;
  purchases.noteOwner(snapshot.orderId, referenceId);
  const [claimedBy] = await purchases.othersWithOrder(snapshot.orderId, referenceId);
  return { ...snapshot, claimedBy };
}

/** What the runs before handed over, or may have. */
interface DeliveredBefore {
  earlier: EarlierEvent[];
  untraced?: UntracedDelivery;
}

/**
 * A run after a reset does not know what the runs before it handed over, and the first run not what a workflow task did that was
 * repeated; only polls that come after such a thing ask.
 */
async function deliveredBefore(
  deps: ActivityDependencies,
  input: GetOrderInput,
  pause: number | undefined,
): Promise<DeliveredBefore | undefined> {
  const runId = activityInfo().workflowExecution?.runId;
  const { orderId, referenceId, firstRunId, afterFailedPoll } = input;
  if (runId === undefined || firstRunId === undefined) return undefined;
  // The first run is found without a list, which lags; later ones are minutes old before anybody resets again.
  const firstRun = { workflowId: purchaseWorkflowId(referenceId), runId: firstRunId };
  if (runId === firstRunId) {
    return afterFailedPoll ? { earlier: [], untraced: await deps.purchases.untracedDelivery(firstRun) } : undefined;
  }
  const later = await deps.purchases.latestDelivery(referenceId);
  if (later?.status === 'RUNNING') {
    const message = `a delivery of this reference is on its way: workflow ${deliverWorkflowId({ referenceId })}`;
    throw failure(FAILURE.deliveryOnItsWay, message, { retryInMs: pause });
  }
  const { events, untraced } = await deps.purchases.keyEvents(referenceId, {
    also: later ? [firstRun, later] : [firstRun],
    exceptRunId: runId,
    skipForgotten: true,
  });
  const earlier = events
    .filter(({ request }) => request.orderId === orderId)
    .map(({ id, request, received }) => ({ request, eventId: received ? id : undefined }));
  return { earlier, untraced: untraced?.orderId === orderId ? untraced : undefined };
}

/**
 * A key that went out before keeps the fingerprint it had then, whichever secret is the newest now.
 *
 * @param secretId of the secret for all other keys, if it is here; else, and by default, it is the newest.
 */
function namesOf(
  { fingerprints }: ReadDependencies,
  earlier: readonly EventWithKeys[],
  secretId = fingerprints.newestId(),
): (key: Key) => string {
  const before = new Set(earlier.flatMap(fingerprintsOf));
  const models = new Map([...before].map((fingerprint) => [secretIdOf(fingerprint), fingerprint]));
  return (key) => {
    for (const model of models.values()) {
      const name = fingerprints.like(model, key);
      if (name === undefined) throw secretMissing(model);
      if (before.has(name)) return name;
    }
    return fingerprints.under(secretId, key) ?? fingerprints.newest(key);
  };
}

/** What may have gone out under a secret that is gone must not go out under another. */
function requireSecret({ fingerprints }: ReadDependencies, secretId: string): void {
  if (!fingerprints.has(secretId)) throw secretMissing(secretId);
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
