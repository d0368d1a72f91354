import {
  ActivityFailure,
  condition,
  defineSignal,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  TimeoutFailure,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities, PlaceOrderInput, PlacementResult } from '../contracts/activities';
import { RESUME_PLACING_SIGNAL } from '../contracts/names';
import { escapeMarkdown, summaryOf } from '../domain/markdown';
import { describeItems } from '../domain/purchase-rules';
import { isPlacementResult } from './activity-result-guards';
import { boundedPause } from './bounded-pause';
import type { Holds } from './holds';
import { metrics } from './metrics';
import {
  ended,
  type EndedPlacement,
  type NeverWritten,
  type Placement,
  type PlacementStep,
  type Retry,
} from './placement-step';
import { localOptions, pausedPause, placementMaxAge, placementOptions, placementPause, slotPause } from './policies';
import { firstStart, type PurchaseRecord } from './purchase-record';
import { instant } from './progress';
import { adopt, settleRefused, settleUnknown, settleUnplaced } from './settle-placement';

const { currentRun } = proxyLocalActivities<Activities>(localOptions);

/** Sent by the brake. Anybody can send it: it only has the purchase ask again. */
const resumePlacingSignal = defineSignal(RESUME_PLACING_SIGNAL);

type AttemptResult = PlacementResult | NeverWritten;
type PlacedAnswer = Extract<AttemptResult, { evidence: 'PLACED' }>;

/**
 * Places the order once. What makes a second placement impossible:
 *
 * - each attempt is one activity that has one attempt (`placementOptions`) and sends at most one request, behind the fences
 *   in activities/place-order.ts;
 * - what its answer proves decides what may follow (`interpretAnswer`): no second request is sent before the first is
 *   proven not sent, refused, or absent (settle-placement.ts).
 */
export async function placeOrder(purchase: PurchaseRecord, holds: Holds): Promise<Placement> {
  const { placeWithinMs } = purchase.settings;
  let until = Date.now() + placeWithinMs;
  let settledInRun: string | undefined;
  let decidedDespite: string | undefined;
  let mayHaveArrived = false;
  let attempt = 1;
  let timesPaused = 0;
  const wakeUp = observeWakeUp();

  for (;;) {
    if (purchase.cancelRequested) {
      const unplaced = ended('CANCELLED', 'cancelled before anything was bought');
      const end = await endUnplaced(purchase, holds, unplaced, { settledInRun, mayHaveArrived });
      if (end.kind !== 'retry') return end;
      settledInRun = end.settledInRun;
      continue;
    }
    purchase.showStep(`attempt ${attempt} to place the order is under way`, "the partner's answer; then its keys");
    const woken = wakeUp.take();
    const begunAt = Date.now();
    const answer = await attemptPlacement(purchase, { settledInRun, decidedDespite, woken });
    metrics.count('fulfilment_placements', { evidence: answer.evidence });
    if (answer.evidence === 'PLACED') return placed(answer);
    let step = await interpretAnswer(purchase, holds, answer, mayHaveArrived);
    if (step.kind === 'retry' && (step.final || isTooLate(purchase, step, { attempt, begunAt, until }))) {
      const unplaced = ended('NOT_PLACED', step.why);
      const known = { settledInRun: step.settledInRun ?? settledInRun, mayHaveArrived };
      step = await endUnplaced(purchase, holds, unplaced, known);
    }
    if (step.kind !== 'retry') return step;

    mayHaveArrived ||= LEAVES_OPEN.has(answer.evidence);
    settledInRun = step.settledInRun ?? settledInRun;
    decidedDespite = step.decidedDespite ?? decidedDespite;
    if (step.decided) until = Date.now() + placeWithinMs;
    if (step.paused) {
      // Whom signals reach need not ask more rarely.
      timesPaused = woken ? 1 : timesPaused + 1;
      await waitWhilePaused(purchase, wakeUp, { why: step.why, timesPaused, until });
      continue;
    }
    const pause = pauseBefore(step, attempt, until);
    attempt += 1;
    purchase.show('PLACING', step.why, nextAttempt(`attempt ${attempt}`, pause, until));
    if (pause > 0) await condition(() => purchase.cancelRequested, pause, { summary: `then attempt ${attempt}` });
  }
}

/** In words. */
function nextAttempt(next: string, pauseMs: number, until: number): string {
  const at = Date.now() + pauseMs;
  return `${next} at ${instant(at)}; none is made after ${instant(Math.max(at, until))}`;
}

/** What was cancelled meanwhile ends as cancelled. */
function isTooLate(
  { cancelRequested }: PurchaseRecord,
  step: Retry,
  { attempt, begunAt, until }: { attempt: number; begunAt: number; until: number },
): boolean {
  if (step.decided || cancelRequested) return false;
  // A pause that the partner asks for may take all of the time: one more attempt is made behind it, and no third.
  if (step.waited && begunAt < until) return false;
  // Whom the brake, or a partner that asks for a pause, keeps waiting asks once more when the time is over.
  if (step.paused || step.retryAfterMs) return Date.now() >= until;
  return Date.now() + pauseBefore(step, attempt, until) > until;
}

/** Whether the brake has woken the purchase since it last asked. */
interface WakeUp {
  readonly received: boolean;
  take(): boolean | undefined;
}

function observeWakeUp(): WakeUp {
  let received = false;
  setHandler(resumePlacingSignal, () => {
    received = true;
  });
  return {
    get received() {
      return received;
    },
    take() {
      const taken = received || undefined;
      received = false;
      return taken;
    },
  };
}

/** Until the brake wakes it; it asks again by itself, because a signal may get lost. */
async function waitWhilePaused(
  purchase: PurchaseRecord,
  wakeUp: WakeUp,
  { why, timesPaused, until }: { why: string; timesPaused: number; until: number },
): Promise<void> {
  const wanted = boundedPause(pausedPause(purchase.settings, timesPaused), until);
  const pause = Math.min(wanted, until - Date.now());
  purchase.show('PAUSED', why, nextAttempt('its turn; it asks by itself', pause, until));
  const options = { summary: 'then it asks the brake by itself' };
  if (pause > 0) await condition(() => purchase.cancelRequested || wakeUp.received, pause, options);
}

/** After an operator's decision there is none. One that the partner asks for ends with the time of the placement. */
function pauseBefore({ decided, turnInMs, retryAfterMs }: Retry, attempt: number, until: number): number {
  if (decided) return 0;
  const wanted = turnInMs === undefined ? placementPause(attempt, retryAfterMs) : slotPause(turnInMs);
  const pause = boundedPause(wanted, until);
  return retryAfterMs ? Math.min(pause, until - Date.now()) : pause;
}

/**
 * Ends a purchase for which nothing was bought. A reset replays what was not sent, while the run before went on and may have
 * placed it since: only the first run, or one that has settled, ends so. Another settles first. And what an earlier request was
 * shown not to have bought may be there by now: that takes one more search.
 */
async function endUnplaced(
  purchase: PurchaseRecord,
  holds: Holds,
  unplaced: EndedPlacement,
  { settledInRun, mayHaveArrived }: { settledInRun?: string | undefined; mayHaveArrived: boolean },
): Promise<PlacementStep> {
  if (await mayProve({ firstRunId: workflowInfo().firstExecutionRunId, settledInRun })) {
    return mayHaveArrived ? settleUnplaced(purchase, holds, unplaced) : unplaced;
  }
  const why = 'the run before this one may have placed it';
  const step = await settleUnknown(purchase, holds, { evidence: 'UNKNOWN', why, inFlight: true }, true);
  return step.kind === 'retry' && !step.decided ? unplaced : step;
}

/** After such an answer the partner may have an order of this purchase, however absent it was shown since. */
const LEAVES_OPEN: ReadonlySet<AttemptResult['evidence']> = new Set(['ANSWERED', 'UNKNOWN', 'CONFLICT'] as const);

async function attemptPlacement(
  purchase: PurchaseRecord,
  { settledInRun, decidedDespite, woken }: Pick<PlaceOrderInput, 'settledInRun' | 'decidedDespite' | 'woken'>,
): Promise<AttemptResult> {
  const { input, settings } = purchase;
  const activities = proxyActivities<Activities>(placementOptions(settings));
  const request: PlaceOrderInput = {
    referenceId: input.referenceId,
    items: input.items,
    maxDebit: input.maxDebit ?? undefined,
    since: firstStart(),
    firstRunId: workflowInfo().firstExecutionRunId,
    settledInRun,
    decidedDespite,
    woken,
    maxAgeMs: placementMaxAge(settings),
  };
  try {
    const summary = summaryOf(escapeMarkdown(describeItems(input.items)));
    const answer = await activities.placeOrder.executeWithOptions({ summary }, [request]);
    if (isPlacementResult(answer)) return answer;
    return { evidence: 'UNKNOWN', why: 'the attempt was completed by an operator', inFlight: true };
  } catch (failure) {
    if (timedOutWithoutIntent(failure) && (await mayProve(request))) {
      return { evidence: 'NEVER_WRITTEN', why: 'the worker stopped before it wrote the order' };
    }
    return { evidence: 'UNKNOWN', why: 'the worker stopped or the attempt timed out', inFlight: true };
  }
}

/** The attempt has ended without an answer, and without the record that precedes every write. */
function timedOutWithoutIntent(failure: unknown): boolean {
  const cause = failure instanceof ActivityFailure ? failure.cause : undefined;
  return cause instanceof TimeoutFailure && cause.lastHeartbeatDetails === undefined;
}

/**
 * A reset dispatches a pending placement anew, and without what the run before had on record; that run may also have placed
 * what was not sent by then. So only the first run, or the one that has settled, can know that nothing was written. The run is
 * recorded now, after the attempt: what was recorded before it, a reset would replay.
 */
async function mayProve({
  firstRunId,
  settledInRun,
}: Pick<PlaceOrderInput, 'firstRunId' | 'settledInRun'>): Promise<boolean> {
  const { runId } = await currentRun.executeWithOptions({ summary: 'which run this is' }, []);
  return runId === firstRunId || runId === settledInRun;
}

function placed({ orderId, placedAt }: PlacedAnswer): Placement {
  return { kind: 'order', orderId, adopted: false, placedAt: placedAt ?? undefined };
}

async function interpretAnswer(
  purchase: PurchaseRecord,
  holds: Holds,
  answer: Exclude<AttemptResult, PlacedAnswer>,
  mayHaveArrived: boolean,
): Promise<PlacementStep> {
  switch (answer.evidence) {
    case 'FOUND':
      return adopt(purchase, answer.orders) ?? { kind: 'retry', why: answer.why };
    case 'NOT_SENT':
      return { kind: 'retry', why: answer.why, retryAfterMs: answer.retryAfterMs, turnInMs: answer.turnInMs };
    case 'PAUSED':
      return { kind: 'retry', why: answer.why, paused: true };
    case 'OVER_MAX_DEBIT':
      return { kind: 'retry', why: answer.why, final: true };
    case 'ORDER_REFUSED':
      // An order of an earlier request may be why there is no balance or no stock for a second.
      if (mayHaveArrived) return settleUnknown(purchase, holds, { evidence: 'UNKNOWN', why: answer.why });
      return settleRefused(purchase, holds, answer);
    case 'ACCESS_REFUSED':
      return settleRefused(purchase, holds, answer);
    case 'CONFLICT':
    case 'ANSWERED':
    case 'UNKNOWN':
    case 'NEVER_WRITTEN':
      return settleUnknown(purchase, holds, answer, mayHaveArrived);
  }
}
