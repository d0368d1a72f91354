import { activityInfo, log } from '@temporalio/activity';
import type { Activities, PlaceOrderInput, PlacementResult } from '../contracts/activities';
import type { ClosedBrake } from '../contracts/brake';
import { BRAKE_REASON_IN_WORDS, type PlacementSign } from '../domain/brake';
import { maxDebitIssue } from '../domain/max-debit';
import { isPartnerError, type PermitRequest } from '../partner';
import { withinMs } from '../temporal/client';
import { placementWriteTime } from '../workflows/policies';
import { ACCESS_REFUSED, nameOf } from './failures';
import { findOrders } from './find-orders';
import type { ActivityDependencies } from './dependencies';
import { signOfPlacement, signOfRead } from './placement-sign';
import { createPriceList, type Prices } from './price-list';
import { createIntent, createSequence, type Sequence } from './record-intent';

/**
 * Two times this close are one dispatch: the time-skipping server reads its clock twice for it. Nobody can have an attempt
 * sent, failed and dispatched again within it.
 */
const ONE_DISPATCH_MS = 5;
/** So long before the attempt is too old, a search that has not ended is given up: "not sent" is to arrive in time. */
const ANSWER_MS = 1_000;

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
  const oneByOne = createSequence();
  const readPrices = createPriceList(deps.partner);
  return {
    async placeOrder(input) {
      const fence = closedFence(input);
      if (fence) return fence;
      const brake = await deps.brake.check({ referenceId: input.referenceId, woken: input.woken === true });
      if (brake.closed) return paused(brake.closed);
      try {
        const priced = await checkPrice({ ...deps, report: brake.report }, input, readPrices);
        if (priced?.evidence === 'NOT_SENT') return priced;

        return await deps.partner.withPermits(placementPermits(input), async (partner) => {
          const attempt = { ...deps, partner, report: brake.report };
          const before = await findBefore(attempt, input);
          if (before) return before;
          if (priced) return priced;
          const closed = await brake.confirmed();
          if (closed) return paused(closed);

          const answer = await send(attempt, input, oneByOne);
          logAnswer(answer);
          return answer;
        });
      } finally {
        brake.end();
      }
    },
  };
}

function logAnswer(answer: PlacementResult): void {
  const { evidence } = answer;
  if (evidence === 'PLACED') return log.info('order placed', { orderId: answer.orderId });
  if (evidence === 'ACCESS_REFUSED') return log.error(ACCESS_REFUSED, { why: answer.why });
  log.warn('no order placed, or nobody knows', { evidence, why: answer.why });
}

/** What one attempt works with. */
interface Attempt extends ActivityDependencies {
  /** Reports to the brake what the partner has shown. */
  report(sign: PlacementSign): void;
}

function paused({ reason }: ClosedBrake): PlacementResult {
  return { evidence: 'PAUSED', why: `new placements wait: ${BRAKE_REASON_IN_WORDS[reason]}` };
}

/** What a purchase that names no `maxDebit` does not pay for. @returns why it is not placed; undefined: it may cost as much. */
async function checkPrice(
  attempt: Attempt,
  input: PlaceOrderInput,
  readPrices: (patienceMs: number) => Promise<Prices>,
): Promise<PlacementResult | undefined> {
  const { items, maxDebit } = input;
  if (maxDebit === undefined) return undefined;
  // The other half of the attempt is for the search and the write.
  const prices = await readBefore(attempt, input, input.maxAgeMs / 2, {
    read: (timeLeftMs) => readPrices(timeLeftMs / 2),
    slow: 'the catalogue is still being read for its prices',
    failed: 'the catalogue could not be read',
  });
  if ('evidence' in prices) return prices;
  const why = maxDebitIssue(items, maxDebit, prices.result);
  return why === undefined ? undefined : { evidence: 'OVER_MAX_DEBIT', why };
}

/** The search and the write wait for their permits together. The oldest purchase goes first. */
function placementPermits(input: PlaceOrderInput): PermitRequest {
  return { class: 'placement', dueAt: input.since, notAfter: notAfter(input) - placementWriteTime };
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
async function findBefore(attempt: Attempt, input: PlaceOrderInput): Promise<PlacementResult | undefined> {
  const found = await readBefore(attempt, input, 0, {
    read: () => findOrders(attempt.partner, input.referenceId, input.since),
    slow: 'the search of the order history took too long',
    failed: 'the order history could not be searched',
  });
  if ('evidence' in found) return found;
  const { orders, unusable } = found.result;
  if (unusable !== undefined && !input.decidedDespite?.includes(unusable))
    return { evidence: 'UNKNOWN', why: unusable };
  return orders.length > 0 ? { evidence: 'FOUND', orders, why: 'the order is there already' } : undefined;
}

/**
 * Reads at the partner what a placement has to know first, in time for the rest of the attempt.
 *
 * @param restMs how much of the attempt's time is for what follows.
 * @param reading `slow` and `failed` say what happened where it does not succeed: nothing is sent then.
 */
async function readBefore<T>(
  { now, report }: Attempt,
  input: PlaceOrderInput,
  restMs: number,
  { read, slow, failed }: { read: (timeLeftMs: number) => Promise<T>; slow: string; failed: string },
): Promise<{ result: T } | Extract<PlacementResult, { evidence: 'NOT_SENT' }>> {
  // A worker whose clock is behind the server's would believe that it has more time than the attempt may take.
  const timeLeftMs = Math.min(notAfter(input) - now(), input.maxAgeMs) - ANSWER_MS - restMs;
  if (timeLeftMs <= 0) return { evidence: 'NOT_SENT', why: 'the attempt was too old when a worker took it' };
  try {
    const result = await withinMs(timeLeftMs, read(timeLeftMs));
    return result === undefined ? { evidence: 'NOT_SENT', why: slow } : { result };
  } catch (error) {
    report(signOfRead(error));
    if (!isPartnerError(error)) {
      log.error(`${failed} before placing`, { error: nameOf(error) });
      return { evidence: 'NOT_SENT', why: `${failed}: an unexpected error` };
    }
    const { message: why, retryAfterMs, permitInMs: turnInMs } = error;
    if (error.kind === 'access') log.error(ACCESS_REFUSED, { why });
    return { evidence: 'NOT_SENT', why: `${failed}: ${why}`, retryAfterMs, turnInMs };
  }
}

/**
 * Sends the request, or not when it would be written later than the attempt may be old, or when the intention could not be
 * recorded. How it ends is told by the client alone, which knows whether it was written: no timer here may end it first, for
 * in a process that was frozen all timers are due at once, and a request that was written would pass for one that was not.
 */
async function send(deps: Attempt, input: PlaceOrderInput, oneByOne: Sequence): Promise<PlacementResult> {
  const items = input.items.map((item) => ({ id: item.productId, quantity: item.quantity }));
  const order = { items, referenceId: input.referenceId };
  const intent = createIntent(deps, { notAfter: notAfter(input), oneByOne });
  try {
    const placed = await deps.partner.placeOrder(order, { notAfter: notAfter(input), beforeWrite: intent.record });
    const orderId = placed.data.id;
    deps.purchases.noteOwner(orderId, input.referenceId);
    deps.report('GOOD');
    return { evidence: 'PLACED', orderId, placedAt: deps.now() };
  } catch (error) {
    if (!isPartnerError(error)) return { evidence: 'UNKNOWN', why: 'an unexpected error' };
    const { placement: evidence, message: why, retryAfterMs, permitInMs: turnInMs } = error;
    deps.report(signOfPlacement(error));
    return { evidence, why, retryAfterMs, turnInMs };
  } finally {
    intent.close();
  }
}

/** Epoch ms: until when this attempt may write. */
function notAfter(input: PlaceOrderInput): number {
  return activityInfo().currentAttemptScheduledTimestampMs + input.maxAgeMs;
}
