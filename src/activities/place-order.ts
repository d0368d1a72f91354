import { activityInfo, log } from '@temporalio/activity';
import type { Activities, PlaceOrderInput, PlacementResult } from '../contracts/activities';
import { isPartnerError, type RequestTurn } from '../partner';
import { counter } from './counter';
import { ACCESS_REFUSED, nameOf } from './failures';
import { findOrders } from './find-orders';
import type { ActivityDependencies } from './dependencies';
import { createIntent, createSequence, type Sequence } from './record-intent';

/**
 * Two times this close are one dispatch: the time-skipping server reads its clock twice for it. Nobody can have an attempt
 * sent, failed and dispatched again within it.
 */
const ONE_DISPATCH_MS = 5;
/** So long before the attempt is too old, a search that has not ended is given up: "not sent" is to arrive in time. */
const ANSWER_MS = 1_000;

/** So long before that, the slot for the write is had: then come the connection and the record. */
const WRITE_MS = 2_000;

/**
 * The one activity that spends money. It sends at most one request, behind fences, and says what the answer proves:
 *
 * 1. a second dispatch of the same activity (a person's Unpause, Reset or changed options; a restored database) sends nothing;
 * 2. so does a run that is not the first of its chain and has not settled in this very run;
 * 3. the history is searched first, always;
 * 4. the intention to write is recorded at the Temporal server, which refuses an attempt that it has given up;
 * 5. an attempt that is too old at the moment of the write, because its process was frozen, writes nothing.
 *
 * Neither a cancel nor a shutdown is wired into the request: aborting it would not undo it.
 */
export function createPlaceOrderActivities(deps: ActivityDependencies): Pick<Activities, 'placeOrder'> {
  const placements = counter('fulfilment_placements');
  const oneByOne = createSequence();
  return {
    async placeOrder(input) {
      const fence = closedFence(input);
      if (fence) return fence;

      return deps.partner.inTurn(placementTurn(input), async (partner) => {
        const inTurn = { ...deps, partner };
        const before = await findBefore(inTurn, input);
        if (before) return before;

        const answer = await send(inTurn, input, oneByOne);
        placements.add({ evidence: answer.evidence });
        if (answer.evidence === 'ACCESS_REFUSED') log.error(ACCESS_REFUSED, { why: answer.why });
        return answer;
      });
    },
  };
}

/** The search and the write wait for their slots together. The oldest purchase goes first. */
function placementTurn(input: PlaceOrderInput): RequestTurn {
  const { referenceId: key, since: due } = input;
  return { priority: 'placement', key, due, notAfter: notAfter(input) - WRITE_MS };
}

function closedFence(input: PlaceOrderInput): PlacementResult | undefined {
  const info = activityInfo();
  const dispatchedAfterMs = info.currentAttemptScheduledTimestampMs - info.scheduledTimestampMs;
  if (info.attempt > 1 || dispatchedAfterMs > ONE_DISPATCH_MS) {
    return { evidence: 'UNKNOWN', why: 'this attempt was dispatched a second time', inFlight: true };
  }
  const runId = info.workflowExecution?.runId;
  if (runId !== input.firstRunId && runId !== input.settledInRun) {
    return { evidence: 'UNKNOWN', why: 'the run before this one may have placed it', inFlight: true };
  }
  return undefined;
}

/** @returns an answer that ends the attempt before anything was sent, or undefined to go on. */
async function findBefore(deps: ActivityDependencies, input: PlaceOrderInput): Promise<PlacementResult | undefined> {
  // A worker whose clock is behind the server's would believe that it has more time than the attempt may take.
  const timeLeftMs = Math.min(notAfter(input) - deps.now(), input.maxAgeMs) - ANSWER_MS;
  if (timeLeftMs <= 0) return { evidence: 'NOT_SENT', why: 'the attempt was too old when a worker took it' };
  try {
    const found = await withinMs(timeLeftMs, findOrders(deps.partner, input.referenceId, input.since));
    if (!found) return { evidence: 'NOT_SENT', why: 'the search of the order history took too long' };
    const { orders, unusable } = found;
    if (unusable !== undefined && !input.decidedDespite?.includes(unusable))
      return { evidence: 'UNKNOWN', why: unusable };
    return orders.length > 0 ? { evidence: 'FOUND', orders, why: 'the order is there already' } : undefined;
  } catch (error) {
    const unasked = 'the order history could not be searched';
    if (!isPartnerError(error)) {
      log.error(`${unasked} before placing`, { error: nameOf(error) });
      return { evidence: 'NOT_SENT', why: `${unasked}: an unexpected error` };
    }
    const { message: why, retryAfterMs, turnInMs } = error;
    if (error.kind === 'access') log.error(ACCESS_REFUSED, { why });
    return { evidence: 'NOT_SENT', why: `${unasked}: ${why}`, retryAfterMs, turnInMs };
  }
}

/**
 * Sends the request, or not when it would be written later than the attempt may be old, or when the intention could not be
 * recorded. How it ends is told by the client alone, which knows whether it was written: no timer here may end it first, for
 * in a process that was frozen all timers are due at once, and a request that was written would pass for one that was not.
 */
async function send(deps: ActivityDependencies, input: PlaceOrderInput, oneByOne: Sequence): Promise<PlacementResult> {
  const items = input.items.map((item) => ({ id: item.productId, quantity: item.quantity }));
  const order = { items, referenceId: input.referenceId };
  const intent = createIntent(deps, { notAfter: notAfter(input), oneByOne });
  try {
    const placed = await deps.partner.placeOrder(order, { notAfter: notAfter(input), beforeWrite: intent.record });
    const orderId = placed.data.id;
    deps.purchases.noteOwner(orderId, input.referenceId);
    return { evidence: 'PLACED', orderId, placedAt: deps.now() };
  } catch (error) {
    if (!isPartnerError(error)) return { evidence: 'UNKNOWN', why: 'an unexpected error' };
    const { placement: evidence, message: why, retryAfterMs, turnInMs } = error;
    return { evidence, why, retryAfterMs, turnInMs };
  } finally {
    intent.close();
  }
}

/** Epoch ms: until when this attempt may write. */
function notAfter(input: PlaceOrderInput): number {
  return activityInfo().currentAttemptScheduledTimestampMs + input.maxAgeMs;
}

/** @returns undefined when it takes longer. */
async function withinMs<T>(ms: number, result: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  return Promise.race([result, late]).finally(() => clearTimeout(timer));
}
