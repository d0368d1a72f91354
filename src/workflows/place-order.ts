import {
  ActivityFailure,
  condition,
  log,
  proxyActivities,
  sleep,
  TimeoutFailure,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities, NothingPlaced, OrderPlaced, OrdersFound } from '../contracts/activities';
import { STARTED_ONCE } from '../contracts/names';
import { escapeMarkdown, summaryOf } from '../domain/texts';
import { type Confirm, mayHaveBought, type NextStep, stepAfter, type Unplaced } from '../domain/placement';
import { describeItems } from '../domain/purchase-rules';
import { isPlacementResult } from './guards';
import { adopt, describeConfirmation, type PlacedOrder, searchForOrder } from './confirm-placement';
import type { Holds } from './holds';
import {
  lastSearchTimeout,
  longestConfirmation,
  pausedPause,
  permitPause,
  placementInFlight,
  placementMaxAge,
  placementOptions,
  placementPause,
} from './policies';
import { instant } from './describe-status';
import {
  boundedPause,
  currentRunId,
  firstStart,
  metrics,
  type OutcomeDetails,
  type PurchaseRecord,
} from './purchase-record';

/** How placing ends: with an order, or with an outcome without one. */
export type Placement = PlacedOrder | { kind: 'ended'; outcome: OutcomeDetails };

type NextAttempt = { kind: 'attempt'; why: string; afterMs: number; paused?: true };

/** What is to be done next. */
type Step =
  | PlacedOrder
  | NextAttempt
  /** `absent`: the history shows no order, so a cancel request may end the hold. */
  | { kind: 'hold'; explanation: string; absent: boolean }
  | { kind: 'end'; outcome: 'CANCELLED' | 'REJECTED' | 'NOT_PLACED' | 'ABANDONED'; reason: string };

/** An attempt without an order; also one whose worker never said how it ended. */
type UnplacedAnswer = Omit<NothingPlaced, 'evidence'> & { evidence: Unplaced };
type AttemptAnswer = OrderPlaced | OrdersFound | UnplacedAnswer;

/** What is known while an order is being placed. */
interface Placing {
  purchase: PurchaseRecord;
  holds: Holds;
  /** Epoch ms: one last attempt begins then. */
  until: number;
  attempts: number;
  timesPaused: number;
  /** Epoch ms. */
  lastBegunAt: number;
  /** An earlier request may have reached the partner, even if the history showed no order later. */
  mayHaveArrived: boolean;
  /** The run in which an operator decided to place the order again. */
  replaceInRun?: string;
}

/**
 * Places the order once. Each attempt is one activity (`placementOptions`) that sends at most one request, behind the fences in
 * activities/place-order.ts. `stepAfter` says what follows: no other request before that one is proven not sent, refused or absent.
 */
export async function placeOrder(purchase: PurchaseRecord, holds: Holds): Promise<Placement> {
  const until = Date.now() + purchase.settings.placeWithinMs;
  const placing: Placing = {
    ...{ purchase, holds, until, attempts: 0, timesPaused: 0, lastBegunAt: 0, mayHaveArrived: false },
  };
  let step: Step = { kind: 'attempt', why: 'it has just begun', afterMs: 0 };
  for (;;) {
    switch (step.kind) {
      case 'order':
        return step;
      case 'attempt':
        step = await attempt(placing, step);
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

async function attempt(placing: Placing, step: NextAttempt): Promise<Step> {
  const { purchase } = placing;
  await pauseBefore(placing, step);
  if (purchase.cancelRequested) return { kind: 'end', outcome: 'CANCELLED', reason: cancelReason(placing, step.why) };
  if (!step.paused) placing.attempts += 1;
  placing.lastBegunAt = Date.now();
  purchase.showStep(
    `attempt ${placing.attempts} to place the order is under way`,
    "the partner's answer; then its keys",
  );
  const answer = await requestPlacement(placing);
  metrics.count('fulfilment_placements', { evidence: answer.evidence });
  if (answer.evidence === 'PLACED') return { kind: 'order', orderId: answer.orderId, adopted: false };
  if (answer.evidence === 'FOUND') return adopt(purchase, answer.orders);

  const { replace } = purchase.settings;
  const next = stepAfter(answer.evidence, { mayHaveArrived: placing.mayHaveArrived, replace });
  placing.mayHaveArrived ||= mayHaveBought(answer.evidence);
  return next.kind === 'confirm' ? confirm(placing, next, answer) : follow(placing, next, answer);
}

/** Until the attempt may begin, or a cancel request comes. */
async function pauseBefore(
  { purchase, attempts, until }: Placing,
  { why, afterMs, paused }: NextAttempt,
): Promise<void> {
  if (afterMs <= 0 || purchase.cancelRequested) return;
  const pause = Math.min(boundedPause(afterMs, until), until - Date.now());
  const next = paused ? 'it asks again' : `attempt ${attempts + 1}`;
  const last = `the last one begins by ${instant(Math.max(Date.now() + pause, until))}`;
  purchase.show(paused ? 'PAUSED' : 'PLACING', why, `${next} at ${instant(Date.now() + pause)}; ${last}`);
  if (pause > 0) await condition(() => purchase.cancelRequested, pause, { summary: `then ${next}` });
}

async function requestPlacement({ purchase, mayHaveArrived, replaceInRun }: Placing): Promise<AttemptAnswer> {
  const { input, settings, fingerprintSecretId } = purchase;
  const { firstExecutionRunId: firstRunId, memo } = workflowInfo();
  const { placeOrder: place } = proxyActivities<Activities>(placementOptions(settings));
  const { referenceId, items, maxDebit } = input;
  const request = {
    ...{ referenceId, items, maxDebit: maxDebit ?? undefined, since: firstStart(), firstRunId, replaceInRun },
    ...{ startedOnce: memo?.[STARTED_ONCE] === true, mayHaveArrived, fingerprintSecretId },
    maxAgeMs: placementMaxAge(settings),
  };
  try {
    const summary = summaryOf(escapeMarkdown(describeItems(items)));
    const answer = await place.executeWithOptions({ summary }, [request]);
    if (isPlacementResult(answer)) return answer;
    return { evidence: 'UNKNOWN', why: 'the attempt was completed by an operator', inFlight: true };
  } catch (failure) {
    // The run is read now: one recorded before the attempt would be replayed after a reset.
    if (timedOutWithoutIntent(failure) && (await currentRunId()) === firstRunId) {
      return { evidence: 'NEVER_WRITTEN', why: 'the worker stopped before it wrote the order', inFlight: true };
    }
    return { evidence: 'UNKNOWN', why: 'the worker stopped or the attempt timed out', inFlight: true };
  }
}

/** The attempt has ended without an answer, and without the record that precedes every write. */
function timedOutWithoutIntent(failure: unknown): boolean {
  const cause = failure instanceof ActivityFailure ? failure.cause : undefined;
  return cause instanceof TimeoutFailure && cause.lastHeartbeatDetails === undefined;
}

function follow(placing: Placing, next: Exclude<NextStep, Confirm>, answer: UnplacedAnswer): Step {
  const { why } = answer;
  switch (next.kind) {
    case 'attempt':
      return again(placing, why, answer);
    case 'end':
      return { kind: 'end', outcome: next.outcome, reason: why };
    case 'hold':
      return { kind: 'hold', explanation: `${why}, and the order history shows no order`, absent: true };
  }
}

/** Another attempt, unless the last one began when the time was over. */
function again(placing: Placing, why: string, answer?: UnplacedAnswer): Step {
  const { purchase, attempts, lastBegunAt, until } = placing;
  if (lastBegunAt >= until) return { kind: 'end', outcome: 'NOT_PLACED', reason: why };
  if (answer?.evidence === 'PAUSED') {
    placing.timesPaused += 1;
    return { kind: 'attempt', why, afterMs: pausedPause(purchase.settings, placing.timesPaused), paused: true };
  }
  placing.timesPaused = 0;
  const { permitInMs, retryAfterMs } = answer ?? {};
  const afterMs =
    permitInMs === undefined ? placementPause(attempts, retryAfterMs ?? undefined) : permitPause(permitInMs);
  return { kind: 'attempt', why, afterMs };
}

/** Searches the order history for what became of an attempt. */
async function confirm(placing: Placing, plan: Confirm, unplaced: UnplacedAnswer): Promise<Step> {
  const { purchase } = placing;
  const { evidence, why, retryAfterMs, inFlight } = unplaced;
  const inFlightMs = inFlight ? placementInFlight(purchase.settings) : 0;
  if (plan.searches === 'window') {
    const { settings } = purchase;
    const begins = Date.now() + (retryAfterMs ?? 0) + inFlightMs;
    const next = describeConfirmation(settings, begins, plan.ifAbsent.kind);
    purchase.show('UNCONFIRMED', why, next, begins + longestConfirmation(settings));
    log.warn('placement of unknown outcome', { why });
    // A partner that asks for a pause is asked nothing before it is over.
    if (retryAfterMs) await sleep(retryAfterMs, { summary: 'the pause that the partner asked for' });
  }
  const notBefore = Date.now() + inFlightMs;
  const mayHaveArrived = evidence !== 'NEVER_WRITTEN' || placing.mayHaveArrived;
  const history = await searchForOrder(purchase, { ...plan, notBefore, mayHaveArrived });
  metrics.count('fulfilment_placements_confirmed', { evidence, history: history.kind });
  switch (history.kind) {
    case 'found':
      return adopt(purchase, history.orders);
    case 'unreadable':
      return { kind: 'hold', explanation: `${why}, and ${history.why}`, absent: false };
    case 'absent': {
      const { ifAbsent } = plan;
      if (ifAbsent.kind === 'hold' && purchase.cancelRequested) {
        return { kind: 'end', outcome: 'CANCELLED', reason: cancelReason(placing, why) };
      }
      if (ifAbsent.kind !== 'attempt') return follow(placing, ifAbsent, unplaced);
      // The partner's pause is over where it was waited for; a refusal of ours still has one.
      const pace = plan.searches === 'window' ? undefined : unplaced;
      return again(placing, plan.searches === 'window' ? `${why}, and no order came of it` : why, pace);
    }
  }
}

function cancelReason({ lastBegunAt }: Placing, why: string): string {
  return lastBegunAt === 0 ? 'cancelled before anything was bought' : `cancelled; ${why}`;
}

async function askOperator(placing: Placing, { explanation, absent }: Extract<Step, { kind: 'hold' }>): Promise<Step> {
  const { purchase, holds } = placing;
  const resolution = await holds.hold({ reason: 'PLACEMENT_UNKNOWN', explanation }, absent);
  switch (resolution.decision) {
    case 'order':
      return { kind: 'order', orderId: resolution.orderId, adopted: true };
    case 'replace':
      placing.replaceInRun = resolution.runId;
      placing.until = Date.now() + purchase.settings.placeWithinMs;
      return { kind: 'attempt', why: 'an operator decided to place it again', afterMs: 0 };
    case 'cancelled':
      return { kind: 'end', outcome: 'CANCELLED', reason: `cancelled; ${explanation}` };
    default:
      return { kind: 'end', outcome: 'ABANDONED', reason: `given up by an operator; ${explanation}` };
  }
}

/**
 * Makes sure that a purchase which is to end without an order has none: a request that the history showed absent may have been booked
 * since, and the run before a later one may have placed the order. @returns what to do instead; undefined if it may end
 */
async function confirmEnd(
  placing: Placing,
  { outcome, reason }: Extract<Step, { kind: 'end' }>,
): Promise<Step | undefined> {
  if (outcome === 'ABANDONED') return undefined;
  const { purchase } = placing;
  for (;;) {
    const runId = await currentRunId();
    const isFirstRun = runId === workflowInfo().firstExecutionRunId;
    if (isFirstRun && !placing.mayHaveArrived) return undefined;
    placing.mayHaveArrived = true;
    const history = await searchForOrder(purchase, {
      searches: isFirstRun ? 'one' : 'window',
      proven: true,
      notBefore: Date.now() + (isFirstRun ? 0 : placementInFlight(purchase.settings)),
      mayHaveArrived: true,
      unreadableForMs: lastSearchTimeout(purchase.settings),
    });
    if (history.kind === 'found') return adopt(purchase, history.orders);
    if (history.kind === 'unreadable') {
      return { kind: 'hold', explanation: `${reason}, and now ${history.why}`, absent: false };
    }
    // A reset within the window replays its first searches.
    if ((await currentRunId()) === runId) return undefined;
  }
}
