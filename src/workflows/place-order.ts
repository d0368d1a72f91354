import {
  ActivityFailure,
  condition,
  log,
  proxyActivities,
  sleep,
  TimeoutFailure,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities, NoKnownOrder, OrderPlaced, OrdersFound } from '../contracts/activities';
import { formatInstant } from '../contracts/format-instant';
import { escapeMarkdown, summaryOf } from '../domain/text-format';
import {
  type Confirm,
  type EvidenceWithoutOrder,
  mayHaveSentRequest,
  orderMayExist,
  type Consequence,
  consequenceOf,
} from '../domain/placement';
import { describeItems } from '../domain/purchase-rules';
import { isPlacementResult } from './guards';
import {
  adoptFound,
  describeConfirmation,
  type OwnOrder,
  searchAfterReset,
  searchForOrder,
  searchOnceMore,
} from './confirm-placement';
import type { Holds } from './holds';
import {
  maxConfirmationMs,
  breakerRetryDelayMs,
  permitDelayMs,
  placementInFlightMs,
  placementMaxAgeMs,
  placementOptions,
  placementDelayMs,
} from './policies';
import {
  boundedHistoryDelayMs,
  currentRunId,
  firstStartTime,
  metrics,
  type OutcomeDetails,
  type PurchaseRecord,
  wasStartedWithRejectDuplicate,
} from './purchase-record';

/** How placing ends: with an order, or with an outcome without one. */
export type PlacementConclusion = OwnOrder | { kind: 'ended'; outcome: OutcomeDetails };

/** Attempt to place the order after `afterMs`, because of `reason`. `paused`: the circuit breaker is open. */
type NextAttempt = { kind: 'attempt'; reason: string; afterMs: number; paused?: true };

/** The next step of the placement loop. */
type Step =
  | OwnOrder
  | NextAttempt
  /** Ask an operator. */
  | { kind: 'hold'; explanation: string }
  /** End the purchase without an order. */
  | { kind: 'end'; outcome: 'CANCELLED' | 'REJECTED' | 'NOT_PLACED' | 'ABANDONED'; reason: string };

/** The result of an attempt that neither found nor placed an order. Its worker may have died without a result. */
type ResultWithoutOrder = Omit<NoKnownOrder, 'evidence'> & { evidence: EvidenceWithoutOrder };
type AttemptResult = OrderPlaced | OrdersFound | ResultWithoutOrder;

/** The state of the placement loop. */
interface Placing {
  purchase: PurchaseRecord;
  holds: Holds;
  /** Epoch ms: the end of `PURCHASE_PLACE_WITHIN`. An attempt that starts later is the last one. */
  until: number;
  attempts: number;
  timesPaused: number;
  /** Epoch ms. */
  lastStartedAt: number;
  /** An earlier request may have created an order, even if a later search showed none. */
  orderMayExist: boolean;
  /** An earlier request may have been sent, even if it was rejected. Searches then count rows that may be its order. */
  requestMayHaveBeenSent: boolean;
  /** No other execution of this reference can have placed an order. */
  isOnlyExecution: boolean;
  /** The run in which an operator decided to place the order again. */
  replaceInRun?: string;
  /** Whether a request may have been sent since that decision. */
  sentSinceReplace?: boolean;
}

/**
 * Places the order. Each attempt is one activity that sends at most one request (see activities/place-order.ts).
 * `consequenceOf` decides what follows. It allows another request only after proof that the last one was not sent, was
 * rejected, or left no order in the partner's history.
 */
export async function placeOrder(purchase: PurchaseRecord, holds: Holds): Promise<PlacementConclusion> {
  const until = Date.now() + purchase.settings.placeWithinMs;
  const placing: Placing = {
    purchase,
    holds,
    until,
    attempts: 0,
    timesPaused: 0,
    lastStartedAt: 0,
    orderMayExist: false,
    requestMayHaveBeenSent: false,
    isOnlyExecution: wasStartedWithRejectDuplicate(),
  };
  let step: Step = { kind: 'attempt', reason: 'it has just started', afterMs: 0 };
  for (;;) {
    switch (step.kind) {
      case 'order':
        purchase.mayHaveEarlierExecution = !placing.isOnlyExecution;
        return step;
      case 'attempt':
        step = await attemptPlacement(placing, step);
        break;
      case 'hold':
        step = await askOperator(placing, step);
        break;
      case 'end': {
        const instead = await confirmEnd(placing, step);
        const { outcome, reason } = step;
        if (!instead) return { kind: 'ended', outcome: { outcome, lines: [], reason } };
        step = instead;
      }
    }
  }
}

async function attemptPlacement(placing: Placing, step: NextAttempt): Promise<Step> {
  const { purchase } = placing;
  await delayBefore(placing, step);
  if (purchase.cancelRequested)
    return { kind: 'end', outcome: 'CANCELLED', reason: cancelReason(placing, step.reason) };
  // While the circuit breaker is open, nothing is sent, so the attempt number stays the same.
  if (!step.paused) placing.attempts += 1;
  placing.lastStartedAt = Date.now();
  purchase.showStep(
    `attempt ${placing.attempts} to place the order is running`,
    "the partner's response, then the keys",
  );
  const result = await requestPlacement(placing);
  metrics.count('fulfilment_placements', { evidence: result.evidence });
  placing.isOnlyExecution ||= 'isOnlyExecution' in result && result.isOnlyExecution === true;
  if (result.evidence === 'PLACED') return { kind: 'order', orderId: result.orderId, adopted: false };
  if (result.evidence === 'FOUND') return adoptFound(purchase, result.orders);

  const { replace } = purchase.settings;
  const next = consequenceOf(result.evidence, { orderMayExist: placing.orderMayExist, replace });
  placing.orderMayExist ||= orderMayExist(result.evidence);
  placing.requestMayHaveBeenSent ||= mayHaveSentRequest(result.evidence);
  placing.sentSinceReplace ||= mayHaveSentRequest(result.evidence);
  return next.kind === 'confirm' ? confirm(placing, next, result) : stepWithoutOrder(placing, next, result);
}

/** Waits until the attempt may start or a cancel request arrives. */
async function delayBefore(
  { purchase, attempts, until }: Placing,
  { reason, afterMs, paused }: NextAttempt,
): Promise<void> {
  if (afterMs <= 0 || purchase.cancelRequested) return;
  const delay = Math.min(boundedHistoryDelayMs(afterMs, until), until - Date.now());
  const next = paused ? 'another try' : `attempt ${attempts + 1}`;
  const last = `the last one starts no later than ${formatInstant(Math.max(Date.now() + delay, until))}`;
  purchase.show(paused ? 'PAUSED' : 'PLACING', reason, `${next} at ${formatInstant(Date.now() + delay)}; ${last}`);
  if (delay > 0) await condition(() => purchase.cancelRequested, delay, { summary: `before ${next}` });
}

async function requestPlacement(placing: Placing): Promise<AttemptResult> {
  const { purchase, requestMayHaveBeenSent, replaceInRun, sentSinceReplace } = placing;
  const { input, settings, fingerprintSecretId } = purchase;
  const { firstExecutionRunId: firstRunId } = workflowInfo();
  const { placeOrder: place } = proxyActivities<Activities>(placementOptions(settings));
  const { referenceId, items, maxDebit } = input;
  const request = {
    referenceId,
    items,
    maxDebit: maxDebit ?? undefined,
    purchaseStartedAt: firstStartTime(),
    firstRunId,
    replaceInRun,
    sentSinceReplace,
    startedWithRejectDuplicate: wasStartedWithRejectDuplicate(),
    requestMayHaveBeenSent,
    fingerprintSecretId,
    maxAgeMs: placementMaxAgeMs(settings),
    partnerTimeoutMs: settings.partnerTimeoutMs,
  };
  try {
    const summary = summaryOf(escapeMarkdown(describeItems(items)));
    const result = await place.executeWithOptions({ summary }, [request]);
    if (isPlacementResult(result)) return result;
    return { evidence: 'UNKNOWN', reason: 'an operator completed the attempt by hand', inFlight: true };
  } catch (failure) {
    // Read the run id now: after a reset, an id recorded before the attempt would be replayed.
    if (isTimeoutWithoutIntention(failure) && (await currentRunId()) === firstRunId) {
      return { evidence: 'NEVER_WRITTEN', reason: 'the worker stopped before it sent the order', inFlight: true };
    }
    return { evidence: 'UNKNOWN', reason: 'the worker stopped or the attempt timed out', inFlight: true };
  }
}

/** Whether the attempt ended without a result and without recording the intention, which precedes every request. */
function isTimeoutWithoutIntention(failure: unknown): boolean {
  const cause = failure instanceof ActivityFailure ? failure.cause : undefined;
  return cause instanceof TimeoutFailure && cause.lastHeartbeatDetails === undefined;
}

function stepWithoutOrder(placing: Placing, next: Exclude<Consequence, Confirm>, result: ResultWithoutOrder): Step {
  const { reason } = result;
  switch (next.kind) {
    case 'attempt':
      return retryPlacement(placing, reason, result);
    case 'end':
      return { kind: 'end', outcome: next.outcome, reason };
    case 'hold': {
      // A rejection is held only if an earlier request may have placed the order: see `consequenceOf`.
      const isRejection = result.evidence === 'ORDER_REJECTED' || result.evidence === 'CONFLICT';
      const what = isRejection ? `an earlier request may have placed the order; then ${reason}` : reason;
      return { kind: 'hold', explanation: `${what}, and the order history shows no order` };
    }
  }
}

/** Plans another attempt, unless the last one already started after the time limit. */
function retryPlacement(placing: Placing, reason: string, result?: ResultWithoutOrder): Step {
  const { purchase, attempts, lastStartedAt, until } = placing;
  if (lastStartedAt >= until) return { kind: 'end', outcome: 'NOT_PLACED', reason };
  if (result?.evidence === 'PAUSED') {
    placing.timesPaused += 1;
    return {
      kind: 'attempt',
      reason,
      afterMs: breakerRetryDelayMs(purchase.settings, placing.timesPaused),
      paused: true,
    };
  }
  placing.timesPaused = 0;
  const { permitInMs, retryAfterMs } = result ?? {};
  const afterMs =
    permitInMs === undefined ? placementDelayMs(attempts, retryAfterMs ?? undefined) : permitDelayMs(permitInMs);
  return { kind: 'attempt', reason, afterMs };
}

/** Searches the order history to find out how an attempt ended. */
async function confirm(placing: Placing, plan: Confirm, result: ResultWithoutOrder): Promise<Step> {
  const { purchase, requestMayHaveBeenSent } = placing;
  const mayHaveEarlierExecution = !placing.isOnlyExecution;
  const { evidence, reason, retryAfterMs, inFlight } = result;
  const inFlightMs = inFlight ? placementInFlightMs(purchase.settings) : 0;
  if (plan.searches === 'window') {
    const { settings } = purchase;
    const startsAt = Date.now() + (retryAfterMs ?? 0) + inFlightMs;
    const latest = startsAt + maxConfirmationMs(settings);
    const next = describeConfirmation(settings, { notBefore: startsAt, latest }, plan.ifAbsent.kind);
    purchase.show('UNCONFIRMED', reason, next, latest);
    log.warn('placement outcome unknown', { reason });
    // The partner's Retry-After also applies to searches.
    if (retryAfterMs) await sleep(retryAfterMs, { summary: 'delay requested by the partner' });
  }
  const notBefore = Date.now() + inFlightMs;
  const history = await searchForOrder(purchase, {
    ...plan,
    notBefore,
    requestMayHaveBeenSent,
    mayHaveEarlierExecution,
  });
  metrics.count('fulfilment_placements_confirmed', { evidence, history: history.kind });
  switch (history.kind) {
    case 'found':
      return adoptFound(purchase, history.orders);
    case 'unreadable':
      return { kind: 'hold', explanation: `${reason}, and ${history.reason}` };
    case 'absent': {
      const { ifAbsent } = plan;
      if (ifAbsent.kind !== 'attempt') return stepWithoutOrder(placing, ifAbsent, result);
      // A window has already waited for the partner's Retry-After. After a single search it still applies.
      const delayFrom = plan.searches === 'window' ? undefined : result;
      return retryPlacement(
        placing,
        plan.searches === 'window' ? `${reason}, and no order was found` : reason,
        delayFrom,
      );
    }
  }
}

function cancelReason({ lastStartedAt }: Placing, reason: string): string {
  return lastStartedAt === 0
    ? 'cancelled before anything was bought'
    : `cancelled before an order was placed. Last step: ${reason}`;
}

async function askOperator(placing: Placing, { explanation }: Extract<Step, { kind: 'hold' }>): Promise<Step> {
  const { purchase, holds } = placing;
  const { runId, history } = await searchAfterReset(purchase, { mayHaveEarlierExecution: !placing.isOnlyExecution });
  if (history?.kind === 'found') return adoptFound(purchase, history.orders);
  const what = history?.kind === 'unreadable' ? `${explanation}, and now ${history.reason}` : explanation;
  const resolution = await holds.hold({ reason: 'PLACEMENT_UNKNOWN', explanation: what }, runId);
  switch (resolution.decision) {
    case 'order':
      return { kind: 'order', orderId: resolution.orderId, adopted: true };
    case 'replace':
      placing.replaceInRun = resolution.runId;
      placing.sentSinceReplace = false;
      placing.until = Date.now() + purchase.settings.placeWithinMs;
      return { kind: 'attempt', reason: 'an operator decided to place it again', afterMs: 0 };
    default:
      return { kind: 'end', outcome: 'ABANDONED', reason: `abandoned by an operator; ${what}` };
  }
}

/**
 * Checks once more that no order exists before the purchase ends without one. The partner may have processed a request
 * after the last search, or an earlier run or execution may have placed an order.
 * @returns the next step; undefined if the purchase may end
 */
async function confirmEnd(
  placing: Placing,
  { outcome, reason }: Extract<Step, { kind: 'end' }>,
): Promise<Step | undefined> {
  if (outcome === 'ABANDONED') return undefined;
  const { purchase } = placing;
  for (;;) {
    const runId = await currentRunId();
    const isEarliest = placing.isOnlyExecution && runId === workflowInfo().firstExecutionRunId;
    if (isEarliest && !placing.orderMayExist) return undefined;
    // An earlier run or execution may have sent a request.
    placing.orderMayExist = true;
    placing.requestMayHaveBeenSent = true;
    const history = await searchOnceMore(purchase, {
      searches: isEarliest ? 'one' : 'window',
      mayHaveEarlierExecution: !placing.isOnlyExecution,
    });
    if (history.kind === 'found') return adoptFound(purchase, history.orders);
    if (history.kind === 'unreadable') {
      return { kind: 'hold', explanation: `${reason}, and now ${history.reason}` };
    }
    // If a reset happens during the window, its first searches are only replayed, so they don't count for the new run.
    if ((await currentRunId()) === runId) return undefined;
  }
}
