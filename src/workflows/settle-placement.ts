import { ActivityFailure, log, proxyActivities, sleep } from '@temporalio/workflow';
import type {
  Activities,
  FoundOrder,
  OrderSearchResult,
  PlacementRefused,
  PlacementUnknown,
} from '../contracts/activities';
import { summaryOf } from '../domain/markdown';
import { chooseOrder, mayReplace } from '../domain/settling';
import { isOrderSearchResult } from './activity-result-guards';
import { boundedPause } from './bounded-pause';
import { hold, type Holds } from './holds';
import { metrics } from './metrics';
import { ended, type EndedPlacement, type NeverWritten, type Placement, type PlacementStep } from './placement-step';
import {
  historySearchOptions,
  lastSearchTimeout,
  placementInFlight,
  settlingPauses,
  unreadableHistoryTimeout,
} from './policies';
import { firstStart, type PurchaseRecord } from './purchase-record';

/** The partner refused. One search that shows no order makes it certain. */
export async function settleRefused(
  purchase: PurchaseRecord,
  holds: Holds,
  { evidence, why, retryAfterMs }: PlacementRefused,
): Promise<PlacementStep> {
  const notBefore = Date.now();
  const settled = await watchHistory(purchase, { windowMs: 0, prove: false, notBefore });
  metrics.count('fulfilment_placements_settled', { evidence, history: settled.kind });
  if (settled.kind === 'unreadable') return holdUnsettled(purchase, holds, `${why}, and ${settled.why}`, false);
  if (settled.kind === 'found') return adopt(purchase, settled.orders) ?? { kind: 'retry', why };
  if (evidence === 'ACCESS_REFUSED') return { kind: 'retry', why, retryAfterMs };
  return ended('REJECTED', why);
}

/**
 * Nobody knows whether the partner bought. The history is watched through the whole settling time.
 *
 * A placement that was never written is watched for in the same way, because an older copy of Temporal's database has lost what
 * was on record. Its absence needs no proof that the history is readable.
 *
 * @param mayHaveArrived whether an earlier request of this purchase may have reached the partner.
 */
export async function settleUnknown(
  purchase: PurchaseRecord,
  holds: Holds,
  answer: PlacementUnknown | NeverWritten,
  mayHaveArrived = false,
): Promise<PlacementStep> {
  const { settings } = purchase;
  const { evidence, why } = answer;
  const { retryAfterMs, inFlight } = evidence === 'NEVER_WRITTEN' ? { retryAfterMs: 0, inFlight: true } : answer;
  purchase.show('UNCONFIRMED', why, afterSettling(settings, evidence, mayHaveArrived));
  log.warn('placement of unknown outcome', { why });

  // A partner that asks for a pause is asked nothing before it is over.
  if (retryAfterMs) await sleep(retryAfterMs, { summary: 'the pause that the partner asked for' });
  const notBefore = Date.now() + (inFlight ? placementInFlight(settings) : 0);
  const prove = evidence !== 'NEVER_WRITTEN';
  const settled = await watchHistory(purchase, { windowMs: settings.confirmWindowMs, prove, notBefore });
  metrics.count('fulfilment_placements_settled', { evidence, history: settled.kind });

  if (settled.kind === 'found') return adopt(purchase, settled.orders) ?? { kind: 'retry', why };
  if (settled.kind === 'unreadable') return holdUnsettled(purchase, holds, `${why}, and ${settled.why}`, false);
  if (evidence === 'CONFLICT' && !mayHaveArrived) return ended('REJECTED', why);
  if (purchase.cancelRequested) return ended('CANCELLED', `cancelled; ${why}, and no order came of it`);
  if (evidence !== 'CONFLICT' && mayReplace(settings.replace, evidence)) {
    const waited = Boolean(retryAfterMs);
    return { kind: 'retry', why: `${why}, and no order came of it`, settledInRun: settled.runId, waited };
  }
  return holdUnsettled(purchase, holds, `${why}, and the order history shows no order`, true);
}

/**
 * No further request will be sent, and what an earlier one was shown not to have bought may have been booked since: it ends as
 * unplaced after one more search.
 */
export async function settleUnplaced(
  purchase: PurchaseRecord,
  holds: Holds,
  unplaced: EndedPlacement,
): Promise<PlacementStep> {
  const settled = await searchOnce(purchase);
  if (settled.kind === 'unreadable') {
    return holdUnsettled(purchase, holds, `${unplaced.outcome.reason}, and ${settled.why}`, false);
  }
  return (settled.kind === 'found' ? adopt(purchase, settled.orders) : undefined) ?? unplaced;
}

/** One search that proves something; a history that can't be read is searched again for a while. */
function searchOnce(purchase: PurchaseRecord): Promise<Settled> {
  const unreadableForMs = lastSearchTimeout(purchase.settings);
  return watchHistory(purchase, { windowMs: 0, prove: true, notBefore: Date.now(), unreadableForMs });
}

/** In words, as {@link settleUnknown} does it. */
function afterSettling(
  { confirmWindowMs, replace }: PurchaseRecord['settings'],
  evidence: (PlacementUnknown | NeverWritten)['evidence'],
  mayHaveArrived: boolean,
): string {
  const ends = evidence === 'CONFLICT' && !mayHaveArrived;
  const again = evidence !== 'CONFLICT' && mayReplace(replace, evidence);
  const absent = ends ? 'ends the purchase as REJECTED' : again ? 'is placed again' : 'is held for a person';
  const searched = `the order history is searched for ${confirmWindowMs / 1_000} s, and on where it can't be read`;
  return `${searched}; an order that it shows is adopted, one that it shows absent ${absent}`;
}

/** Takes over the order that the history shows, and reports any further one: each is money. */
export function adopt(purchase: PurchaseRecord, found: readonly FoundOrder[]): Placement | undefined {
  const choice = chooseOrder(found);
  if (!choice) return undefined;
  const doubles = choice.doubles.map((order) => order.id);
  if (doubles.length > 0) {
    log.error('double purchase at the partner', { adopted: choice.adopt.id, doubles });
    metrics.count('fulfilment_double_purchases', {}, doubles.length);
    purchase.alert('DOUBLE_PURCHASE', { adopted: choice.adopt.id, alsoBought: doubles });
  }
  return { kind: 'order', orderId: choice.adopt.id, adopted: true };
}

/**
 * What can't be settled is held for an operator. A hold may be open for days: what was absent when it was opened may be
 * there by now, so that a cancel request ends it only after one more search.
 *
 * @param absent whether the history shows that nothing was bought, so that a cancel request may end the hold.
 */
async function holdUnsettled(
  purchase: PurchaseRecord,
  holds: Holds,
  reason: string,
  absent: boolean,
): Promise<PlacementStep> {
  let explanation = reason;
  let endOnCancel = absent;
  for (;;) {
    const resolution = await hold(purchase, holds, { reason: 'PLACEMENT_UNKNOWN', explanation }, endOnCancel);
    if (resolution.decision === 'order') return { kind: 'order', orderId: resolution.orderId, adopted: true };
    if (resolution.decision === 'replace') {
      const why = 'an operator decided to place it again';
      return { kind: 'retry', why, settledInRun: resolution.runId, decided: true, decidedDespite: explanation };
    }
    if (resolution.decision !== 'cancelled') return ended('ABANDONED', `given up by an operator; ${explanation}`);

    const settled = await searchOnce(purchase);
    if (settled.kind !== 'unreadable') {
      const found = settled.kind === 'found' ? adopt(purchase, settled.orders) : undefined;
      return found ?? ended('CANCELLED', `cancelled; ${explanation}`);
    }
    explanation = `${explanation}, and now ${settled.why}`;
    endOnCancel = false;
  }
}

interface WatchOptions {
  /** For how long every search must show the order absent. */
  windowMs: number;
  /** Only searches of a history that has proven itself readable count. */
  prove: boolean;
  /** Epoch ms: the window begins no earlier. */
  notBefore: number;
  /** How long a history that can't be read is searched again, if not as long as the policy says. */
  unreadableForMs?: number;
}

type Settled =
  { kind: 'found'; orders: FoundOrder[] } | { kind: 'absent'; runId: string } | { kind: 'unreadable'; why: string };

/**
 * Searches the history, soon and then with growing gaps. Absent is only what every search of a whole window showed so,
 * a window that began no earlier than `notBefore`; a search that fails or proves nothing begins it anew. The window lasts from the
 * answer of its first search to the question of its last: what a search shows may be as old as its question, however long
 * the answer took. It takes several searches to give up: one that died with its worker may last longer than the timeout for
 * all. A window that has begun is seen to its end.
 *
 * After a reset a whole window begins anew, also where one search would have done: the run before went on until then, and what it
 * has sent last may still be on its way.
 */
async function watchHistory(purchase: PurchaseRecord, options: WatchOptions): Promise<Settled> {
  const { prove, unreadableForMs = unreadableHistoryTimeout(purchase.settings) } = options;
  let { windowMs, notBefore } = options;
  let giveUpAt = notBefore + unreadableForMs;
  const pauses = settlingPauses(purchase.settings);
  let absentSince: number | undefined;

  for (let turn = 0; ; turn++) {
    const askedAt = Date.now();
    const { result, why } = await searchHistory(purchase, prove, notBefore);
    if (result && result.orders.length > 0) return { kind: 'found', orders: result.orders };
    if (result && result.runId !== purchase.searchedInRun) {
      purchase.searchedInRun = result.runId;
      absentSince = undefined;
      windowMs = purchase.settings.confirmWindowMs;
      notBefore = Date.now() + placementInFlight(purchase.settings);
      giveUpAt = notBefore + unreadableForMs;
    }
    const counts = result !== undefined && (result.readable || !prove);
    absentSince = counts ? (absentSince ?? Math.max(Date.now(), notBefore)) : undefined;
    const isWholeWindow = absentSince !== undefined && (windowMs === 0 || askedAt - absentSince >= windowMs);
    if (result && isWholeWindow) return { kind: 'absent', runId: result.runId };
    const timedOut = Date.now() >= giveUpAt && turn >= pauses.length;
    if (timedOut && absentSince === undefined) return { kind: 'unreadable', why };
    const pause = pauses[Math.min(turn, pauses.length - 1)] ?? purchase.settings.confirmWindowMs;
    await sleep(boundedPause(pause, giveUpAt), { summary: 'then the order history is searched again' });
  }
}

/** One search. Without `result` it failed, or an operator completed it with something else. */
async function searchHistory(
  { input, settings }: PurchaseRecord,
  prove: boolean,
  sentBefore: number,
): Promise<{ result?: OrderSearchResult; why: string }> {
  const { findOrders } = proxyActivities<Activities>(historySearchOptions(settings));
  const { referenceId } = input;
  try {
    const result = await findOrders.executeWithOptions({ summary: summaryOf(`orders of reference ${referenceId}`) }, [
      { referenceId, since: firstStart(), prove, sentBefore },
    ]);
    return isOrderSearchResult(result)
      ? { result, why: result.why }
      : { why: 'the search of the order history was completed by an operator' };
  } catch (failure) {
    const cause = failure instanceof ActivityFailure ? failure.cause?.message : undefined;
    return { why: `the order history could not be read${cause === undefined ? '' : `: ${cause}`}` };
  }
}
