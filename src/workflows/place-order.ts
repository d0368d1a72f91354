import { ActivityFailure, condition, log, proxyActivities, sleep, workflowInfo } from '@temporalio/workflow';
import type {
  Activities,
  FoundOrder,
  OrderSearchResult,
  PlacementRefused,
  PlacementResult,
  PlacementUnknown,
} from '../contracts/activities';
import { chooseOrder, mayReplace, placementPause, SETTLING_ROUNDS, settlingPauses } from '../domain/settling';
import { isHistoryLook, isPlacementAnswer } from './activity-result-guards';
import { hold } from './holds';
import { lookingUp, placementMaxAge, placing } from './policies';
import type { Ending, PurchaseRecord } from './purchase-record';
import { describeItems, firstStart } from './purchase-record';

/** Either an order to see through, or an ending without one. `adopted`: found or named, not answered to our request. */
export type Placement = { kind: 'order'; orderId: string; adopted: boolean } | { kind: 'ended'; ending: Ending };

/** What one attempt led to: done, or try again (and at which pace). */
type Step = Placement | Again;

interface Again {
  kind: 'again';
  why: string;
  /** The pace that the partner asked for. */
  askedForMs?: number;
  /** The run in which it was settled that another request is allowed. */
  settledInRun?: string;
  /** A person decided: the time for placing begins anew. */
  decided?: boolean;
}

/**
 * Places the order once. Each attempt is one activity that sends at most one request; what its answer proves decides what
 * may follow, and no second request is sent before the first is proven not sent, refused, or absent.
 */
export async function place(purchase: PurchaseRecord): Promise<Placement> {
  const { placeWithinMs } = purchase.settings;
  let until = Date.now() + placeWithinMs;
  let settledInRun: string | undefined;

  for (let attempt = 1; ; attempt++) {
    if (purchase.cancelRequested) return ended('CANCELLED', 'cancelled before anything was bought');
    const answer = await attemptPlacement(purchase, settledInRun);
    const step = await meaningOf(purchase, answer);
    if (step.kind !== 'again') return step;

    settledInRun = step.settledInRun ?? settledInRun;
    if (step.decided) until = Date.now() + placeWithinMs;
    const pause = step.decided ? 0 : placementPause(attempt, step.askedForMs);
    if (Date.now() + pause > until) return ended('NOT_PLACED', step.why);
    purchase.enter('PLACING', `${step.why}; attempt ${attempt + 1} in ${Math.round(pause / 1000)} s`);
    if (pause > 0) await condition(() => purchase.cancelRequested, pause);
  }
}

async function attemptPlacement(purchase: PurchaseRecord, settledInRun?: string): Promise<PlacementResult> {
  const { input, settings } = purchase;
  const { placeOrder } = proxyActivities<Activities>(placing(settings));
  try {
    const answer = await placeOrder.executeWithOptions({ summary: describeItems(input) }, [
      {
        referenceId: input.referenceId,
        items: input.items,
        since: firstStart(),
        firstRunId: workflowInfo().firstExecutionRunId,
        settledInRun,
        maxAgeMs: placementMaxAge(settings),
      },
    ]);
    return isPlacementAnswer(answer)
      ? answer
      : { evidence: 'UNKNOWN', why: 'the attempt was completed by hand', inFlight: true };
  } catch {
    return { evidence: 'UNKNOWN', why: 'the worker stopped or the attempt timed out', inFlight: true };
  }
}

async function meaningOf(purchase: PurchaseRecord, answer: PlacementResult): Promise<Step> {
  switch (answer.evidence) {
    case 'PLACED':
      return { kind: 'order', orderId: answer.orderId, adopted: false };
    case 'FOUND':
      return adopt(purchase, answer.orders) ?? { kind: 'again', why: answer.why };
    case 'NOT_SENT':
      return { kind: 'again', askedForMs: answer.retryAfterMs, why: answer.why };
    case 'ORDER_REFUSED':
    case 'CONFLICT':
    case 'ACCESS_REFUSED':
      return settleRefusal(purchase, answer);
    default:
      return settleUnknown(purchase, answer);
  }
}

/** The partner refused. One look that shows no order makes it certain. */
async function settleRefusal(purchase: PurchaseRecord, answer: PlacementRefused): Promise<Step> {
  const { why } = answer;
  // Whoever refuses us may refuse us the history too: that lasts as long as a key's rotation, not as an order's settling.
  const patienceMs = answer.evidence === 'ACCESS_REFUSED' ? purchase.settings.placeWithinMs : 0;
  const settled = await watchHistory(purchase, { windowMs: 0, prove: false, notBefore: Date.now(), patienceMs });
  if (settled.kind === 'unreadable') return decide(purchase, `${why}, and ${settled.why}`, false);
  if (settled.kind === 'found') return adopt(purchase, settled.orders) ?? { kind: 'again', why };
  if (answer.evidence === 'ACCESS_REFUSED') return { kind: 'again', askedForMs: answer.retryAfterMs, why };
  return ended('REJECTED', why);
}

/** Nobody knows whether the partner bought. The history is watched through the whole settling time. */
async function settleUnknown(purchase: PurchaseRecord, answer: PlacementUnknown): Promise<Step> {
  const { settings } = purchase;
  const { why } = answer;
  purchase.enter('UNCONFIRMED', `${why}: the partner's order history is watched for ${settings.settleMs / 1000} s`);
  log.warn('placement of unknown outcome', { why });

  // A partner that asks for a pause is asked nothing before it is over.
  if (answer.retryAfterMs) await sleep(answer.retryAfterMs);
  const stillWriting = answer.inFlight ? placementMaxAge(settings) + settings.partnerTimeoutMs : 0;
  const notBefore = Date.now() + stillWriting;
  const settled = await watchHistory(purchase, { windowMs: settings.settleMs, prove: true, notBefore });

  if (settled.kind === 'found') return adopt(purchase, settled.orders) ?? { kind: 'again', why };
  if (settled.kind === 'unreadable') return decide(purchase, `${why}, and ${settled.why}`, false);
  if (purchase.cancelRequested) return ended('CANCELLED', `cancelled; ${why}, and no order came of it`);
  if (mayReplace(settings.replace, answer.evidence)) {
    return { kind: 'again', settledInRun: settled.runId, why: `${why}, and no order came of it` };
  }
  return decide(purchase, `${why}, and the order history shows no order`, true);
}

type Settled =
  { kind: 'found'; orders: FoundOrder[] } | { kind: 'absent'; runId: string } | { kind: 'unreadable'; why: string };

/**
 * Looks in the history, soon and then with growing gaps. Absent is only what every look of a whole window showed so,
 * a window that began no earlier than `notBefore`; a look that fails or proves nothing begins it anew. It takes several
 * looks to give up: one that died with its worker may last longer than the patience for all. A window that has begun is
 * seen to its end.
 */
async function watchHistory(
  purchase: PurchaseRecord,
  options: { windowMs: number; prove: boolean; notBefore: number; patienceMs?: number },
): Promise<Settled> {
  const { settleMs } = purchase.settings;
  const giveUp = options.notBefore + Math.max(SETTLING_ROUNDS * settleMs, options.patienceMs ?? 0);
  const pauses = settlingPauses(settleMs);
  let absentSince: number | undefined;

  for (let turn = 0; ; turn++) {
    const { look, why } = await lookUp(purchase, options.prove);
    if (look && look.orders.length > 0) return { kind: 'found', orders: look.orders };
    const counts = look !== undefined && (look.readable || !options.prove);
    absentSince = counts ? (absentSince ?? Math.max(Date.now(), options.notBefore)) : undefined;
    if (look && absentSince !== undefined && Date.now() - absentSince >= options.windowMs) {
      return { kind: 'absent', runId: look.runId };
    }
    const outOfPatience = Date.now() >= giveUp && turn >= pauses.length;
    if (outOfPatience && absentSince === undefined) return { kind: 'unreadable', why };
    await sleep(pauses[Math.min(turn, pauses.length - 1)] ?? settleMs);
  }
}

/** One look. Without `look` it failed, or a person completed it with something else. */
async function lookUp(purchase: PurchaseRecord, prove: boolean): Promise<{ look?: OrderSearchResult; why: string }> {
  const { input, settings } = purchase;
  const { findOrders } = proxyActivities<Activities>(lookingUp(settings));
  try {
    const summary = `is there an order for ${input.referenceId}?`;
    const look = await findOrders.executeWithOptions({ summary }, [
      { referenceId: input.referenceId, since: firstStart(), prove },
    ]);
    return isHistoryLook(look) ? { look, why: look.why } : { why: 'the look was completed by hand' };
  } catch (failure) {
    const cause = failure instanceof ActivityFailure ? failure.cause?.message : undefined;
    return { why: `the order history could not be read${cause === undefined ? '' : `: ${cause}`}` };
  }
}

/** Takes over the order that the history shows, and reports any further one: each is money. */
function adopt(purchase: PurchaseRecord, found: readonly FoundOrder[]): Placement | undefined {
  const choice = chooseOrder(found);
  if (!choice) return undefined;
  const doubles = choice.doubles.map((order) => order.id);
  if (doubles.length > 0) {
    log.error('double purchase at the partner', { adopted: choice.adopt.id, doubles });
    purchase.attention('DOUBLE_PURCHASE', { adopted: choice.adopt.id, alsoBought: doubles });
  }
  return { kind: 'order', orderId: choice.adopt.id, adopted: true };
}

/** What can't be settled waits for a person. */
async function decide(purchase: PurchaseRecord, explanation: string, absent: boolean): Promise<Step> {
  const answer = await hold(purchase, 'PLACEMENT_UNKNOWN', explanation, absent);
  switch (answer.kind) {
    case 'cancelled':
      return lastLook(purchase, explanation);
    case 'order':
      return { kind: 'order', orderId: answer.orderId ?? '', adopted: true };
    case 'replace':
      return { kind: 'again', settledInRun: answer.runId, decided: true, why: 'a person decided to place it again' };
    default:
      return ended('ABANDONED', `given up by a person; ${explanation}`);
  }
}

/** A hold may have been open for days: what was absent when it began may be there by now, and is then seen through. */
async function lastLook(purchase: PurchaseRecord, explanation: string): Promise<Step> {
  const settled = await watchHistory(purchase, { windowMs: 0, prove: true, notBefore: Date.now() });
  if (settled.kind === 'unreadable') return decide(purchase, `${explanation}, and now ${settled.why}`, false);
  const found = settled.kind === 'found' ? adopt(purchase, settled.orders) : undefined;
  return found ?? ended('CANCELLED', `cancelled; ${explanation}`);
}

function ended(outcome: Ending['outcome'], reason: string): Placement {
  return { kind: 'ended', ending: { outcome, lines: [], reason } };
}
