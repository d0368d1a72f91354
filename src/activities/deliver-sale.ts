import { performance } from 'node:perf_hooks';
import { activityInfo, log } from '@temporalio/activity';
import type { Activities, DeliveryAttemptResult, SaleDeliveryAttemptResult } from '../contracts/activities';
import type { CheckoutEvent, EventLine } from '../contracts/events';
import { FAILURE } from '../contracts/failures';
import { hasSameKeyIds, keyIdsOf } from '../domain/key-ids';
import { safeStatus } from '../domain/order';
import type { SaleEvent } from '../domain/plan-delivery';
import type { SaleLine } from '../domain/review-order';
import { type EventIdentity, eventId, isDeliveryError, secretIdOf } from '../delivery';
import type { Order } from '../partner';
import { type ActivityDependencies, ownRunId, readPermits, wasDispatchedBefore } from './dependencies';
import { refusalOf } from './confirm-attempt';
import { failure, retryAsOrdinaryActivity, toFailure } from './failures';
import { addKeyIds, type LineWithKeyIds } from './order-keys';
import { readEarlierRuns } from './read-ended-purchase';

/**
 * A local delivery aborts its request this long after it became due. This is shorter than its Temporal timeout
 * (`firstDeliveryOptions`), so the ordinary activity that follows never overlaps with it.
 */
const LOCAL_DEADLINE_MS = 1_000;
/**
 * How old the workflow task of a local delivery may be. The server gives a workflow task to another worker after 10 s,
 * which a process that was frozen does not know.
 */
const MAX_TASK_AGE_MS = 8_000;
/** After one slow local delivery, local deliveries stop. An ordinary delivery faster than this turns them on again. */
const FAST_MS = 1_000;

/**
 * Delivers events to the checkout. Each attempt reads the keys from the partner and keeps them only for its request.
 */
export function createDeliveryActivities(
  deps: ActivityDependencies,
): Pick<Activities, 'deliverSale' | 'deliverNotice'> {
  let isTooSlow = false;
  return {
    async deliverSale(event): Promise<SaleDeliveryAttemptResult> {
      const { isLocal, currentAttemptScheduledTimestampMs: dueAt, startToCloseTimeoutMs } = activityInfo();
      if (isLocal && isTooSlow) throw retryAsOrdinaryActivity('the checkout was too slow for a local delivery');
      if (isLocal && deps.now() - (event.decidedAt ?? 0) > MAX_TASK_AGE_MS)
        throw retryAsOrdinaryActivity('the workflow task is too old for a local delivery');
      const beganAt = performance.now();
      // Temporal times an attempt out, but does not stop it.
      const notAfter = isLocal ? dueAt + LOCAL_DEADLINE_MS : deps.now() + startToCloseTimeoutMs;
      try {
        const lines = await linesOf(deps, event);
        // A local delivery may be the repetition of one whose worker died, and the history doesn't show it.
        const changed = { kind: 'CHANGED', eventMayHaveArrived: isLocal || wasDispatchedBefore() } as const;
        if (!lines || (await isReviewOld(deps, event))) return changed;
        // Reading the keys may take long, so this is read last. Only ordinary deliveries follow the end of a purchase.
        let hasChanged = false;
        const meanwhile = async () => void (hasChanged = await hasRunAgain(deps, event));
        const refused = isLocal ? undefined : await refusalOf(deps, { meanwhile });
        if (hasChanged) return changed;
        if (refused !== undefined)
          throw failure(FAILURE.attemptEnded, `nothing was sent: ${refused}`, { benign: true });
        const { type, referenceId, orderId, outcome, totalDebit, reason } = event;
        const keyIds = lines.flatMap(({ keys = [] }) => keys.map(({ id }) => id));
        const data = { referenceId, orderId, outcome, lines: event.lines && lines, totalDebit, reason };
        const identity = { type, referenceId, orderId, keyIds };
        const delivered = await postEvent(deps, identity, data, notAfter - deps.now());
        if (!isLocal && performance.now() - beganAt < FAST_MS) isTooSlow = false;
        return delivered;
      } catch (error) {
        if (isLocal && isDeliveryError(error) && error.kind === 'timeout') isTooSlow = true;
        throw toFailure(error);
      }
    },
    async deliverNotice({ type, subject, data }) {
      const { referenceId, orderId } = data;
      return postEvent(deps, { type, referenceId, orderId, subject }, data).catch((error: unknown) => {
        throw toFailure(error);
      });
    },
  };
}

/**
 * Posts one event.
 * @throws DeliveryError
 */
export async function postEvent(
  { eventSender, metrics, now }: Pick<ActivityDependencies, 'eventSender' | 'metrics' | 'now'>,
  identity: EventIdentity,
  data: CheckoutEvent['data'],
  withinMs?: number,
): Promise<DeliveryAttemptResult> {
  const { type } = identity;
  const id = eventId(identity);
  const at = new Date(now()).toISOString();
  try {
    const accepted = await eventSender.deliver({ id, body: { type, timestamp: at, data } }, withinMs);
    metrics.count('fulfilment_delivery_attempts', { result: accepted ? 'received' : 'failed' });
    log.info(accepted ? 'event delivered' : 'event permanently rejected (410)', { eventId: id, type });
    return accepted ? { kind: 'RECEIVED', event: { id, type, at } } : { kind: 'REFUSED' };
  } catch (error) {
    metrics.count('fulfilment_delivery_attempts', { result: 'failed' });
    throw error;
  }
}

/** Whether the purchase was reset or started again after the end that the event follows. */
async function hasRunAgain({ purchases }: ActivityDependencies, { referenceId, afterRunId }: SaleEvent) {
  if (afterRunId === undefined) return false;
  const latest = await purchases.describeIfKnown(referenceId);
  return latest !== undefined && latest.runId !== afterRunId;
}

/** A reset may repeat a review from before an earlier run told the checkout that there are no keys. */
async function isReviewOld({ purchases }: ActivityDependencies, { referenceId, firstRunId, keylessEvents }: SaleEvent) {
  if (firstRunId === undefined || firstRunId === ownRunId()) return false;
  const earlier = await readEarlierRuns(purchases, referenceId, ownRunId());
  return earlier.keylessEvents.some((type) => !keylessEvents?.includes(type));
}

/**
 * The lines of an event, with the keys of the sale.
 * @returns undefined if the order has changed since its review
 */
async function linesOf(deps: ActivityDependencies, { orderId, status, lines = [] }: SaleEvent) {
  const [keyId] = lines.flatMap(({ keyIds }) => keyIds);
  if (keyId === undefined || orderId === undefined) return lines.map((line) => eventLine(line));
  const { data: order } = await deps.partner.withPermits(readPermits(deps, 'delivery'), (partner) =>
    partner.getOrder(
      orderId,
      lines.map(({ productId }) => productId),
    ),
  );
  const named = addKeyIds(deps, order, secretIdOf(keyId));
  return isAsReviewed(order, named, { status, lines }) ? lines.map((line) => eventLine(line, named)) : undefined;
}

function isAsReviewed(
  order: Order,
  named: LineWithKeyIds[],
  reviewed: { status?: string; lines: SaleLine[] },
): boolean {
  return hasSameKeyIds(keyIdsOf(named), keyIdsOf(reviewed.lines)) && safeStatus(order.status) === reviewed.status;
}

function eventLine({ keyIds, productId, title, quantity }: SaleLine, named: LineWithKeyIds[] = []): EventLine {
  if (keyIds.length === 0) return { productId, title, quantity };
  const own = named.filter((line) => line.productId === productId).flatMap(({ keys }) => keys);
  const keysById = new Map(own.map(({ id, type, value }) => [id, { id, type, value }]));
  return { productId, title, quantity, keys: keyIds.flatMap((id) => keysById.get(id) ?? []) };
}
