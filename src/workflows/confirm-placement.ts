import { ActivityFailure, ApplicationFailure, log, proxyActivities, sleep, workflowInfo } from '@temporalio/workflow';
import type { Activities, FoundOrder, OrderSearchResult } from '../contracts/activities';
import { retryDelayOf } from '../contracts/failures';
import { formatInstant } from '../contracts/format-instant';
import { DOUBLE_PURCHASE_ADVICE, explainDoublePurchase } from '../domain/double-purchase';
import { summaryOf, withoutErrorCode } from '../domain/text-format';
import { chooseOrder, type Confirm } from '../domain/placement';
import { isOrderSearchResult } from './guards';
import { startAttentionNotice } from './deliver-events';
import {
  confirmationDelaysMs,
  historySearchOptions,
  lastSearchTimeoutMs,
  placementInFlightMs,
  unreadableHistoryTimeoutMs,
} from './policies';
import { boundedHistoryDelayMs, currentRunId, firstStartTime, metrics, type PurchaseRecord } from './purchase-record';

/** The order that the purchase continues with. */
export interface OwnOrder {
  kind: 'order';
  orderId: string;
  /** The order was found in the order history or named by an operator, rather than returned by our own request. */
  adopted: boolean;
}

interface HistorySearch extends Pick<Confirm, 'searches' | 'needsProof'> {
  /** Epoch ms: from here on, no request can be in flight. The window does not start earlier. */
  notBefore: number;
  /** A request may have been sent, so an unreadable row may be its order. */
  requestMayHaveBeenSent: boolean;
  /** An earlier execution of this reference may have placed the order. */
  mayHaveEarlierExecution: boolean;
  /** Overrides how long an unreadable history is searched, in ms. */
  unreadableForMs?: number;
}

type FoundOrders = [FoundOrder, ...FoundOrder[]];

/** What the order history shows about a placement. */
type SearchConclusion =
  | { kind: 'found'; orders: FoundOrders }
  /** No search of the window showed an order. */
  | { kind: 'absent' }
  /** The history could not be read, or it proved nothing, until the search gave up. */
  | { kind: 'unreadable'; reason: string };

/**
 * Searches the order history. An order is absent only if every search in a whole window showed none. A search that
 * fails or proves nothing restarts the window. The window runs from the end of its first search to the start of its
 * last one.
 */
export async function searchForOrder(purchase: PurchaseRecord, search: HistorySearch): Promise<SearchConclusion> {
  const { settings } = purchase;
  const { needsProof, notBefore, unreadableForMs = unreadableHistoryTimeoutMs(settings) } = search;
  const windowMs = search.searches === 'one' ? 0 : settings.confirmWindowMs;
  const delays = confirmationDelaysMs(settings);
  const giveUpAt = notBefore + unreadableForMs;
  let absentSince: number | undefined;

  for (let searchCount = 0; ; searchCount++) {
    const askedAt = Date.now();
    const { result, reason, retryAfterMs = 0 } = await searchOnce(purchase, search);
    if (result && hasOrders(result.orders)) return { kind: 'found', orders: result.orders };
    const showsAbsence = result !== undefined && (result.provesAbsence || !needsProof);
    absentSince = showsAbsence ? (absentSince ?? Math.max(Date.now(), notBefore)) : undefined;
    if (absentSince !== undefined && (windowMs === 0 || askedAt - absentSince >= windowMs)) return { kind: 'absent' };
    // Give up only after several searches: if its worker dies, a single search may outlast the whole timeout.
    const isTimedOut = Date.now() >= giveUpAt && searchCount >= delays.length;
    if (isTimedOut && absentSince === undefined) return { kind: 'unreadable', reason };
    const ownMs = delays[Math.min(searchCount, delays.length - 1)] ?? settings.confirmWindowMs;
    // A Retry-After must not postpone the decision.
    const delay = Math.max(ownMs, Math.min(retryAfterMs, giveUpAt - Date.now()));
    await sleep(boundedHistoryDelayMs(delay, giveUpAt), { summary: 'before the order history is searched again' });
  }
}

/** The last search before a decision. A window begins when no request of an earlier run can be in flight. */
export function searchOnceMore(
  purchase: PurchaseRecord,
  search: Pick<HistorySearch, 'searches' | 'mayHaveEarlierExecution'>,
): Promise<SearchConclusion> {
  const { settings } = purchase;
  return searchForOrder(purchase, {
    ...search,
    needsProof: true,
    notBefore: Date.now() + (search.searches === 'one' ? 0 : placementInFlightMs(settings)),
    requestMayHaveBeenSent: true,
    unreadableForMs: lastSearchTimeoutMs(settings),
  });
}

/**
 * Searches once more in a later run: the run before may have sent a request after the searches that a reset replays.
 * @returns the current run, and what its search showed; no search in the first run
 */
export async function searchAfterReset(
  purchase: PurchaseRecord,
  search: Pick<HistorySearch, 'mayHaveEarlierExecution'>,
): Promise<{ runId: string; history?: SearchConclusion }> {
  let history: SearchConclusion | undefined;
  let searchedIn = workflowInfo().firstExecutionRunId;
  for (;;) {
    const runId = await currentRunId();
    if (runId === searchedIn) return { runId, history };
    searchedIn = runId;
    purchase.showStep('the order history is searched after a reset', 'if it shows no order, an operator decides');
    history = await searchOnceMore(purchase, { ...search, searches: 'window' });
    if (history.kind === 'found') return { runId, history };
  }
}

/** One search. If `result` is absent, the search failed, or an operator completed it with an invalid result. */
async function searchOnce(
  { input, settings }: PurchaseRecord,
  { needsProof, notBefore, requestMayHaveBeenSent, mayHaveEarlierExecution }: HistorySearch,
): Promise<{ result?: OrderSearchResult; reason: string; retryAfterMs?: number }> {
  const { findOrders } = proxyActivities<Activities>(historySearchOptions(settings));
  const { referenceId } = input;
  try {
    const result = await findOrders.executeWithOptions({ summary: summaryOf(`search for orders of ${referenceId}`) }, [
      {
        referenceId,
        purchaseStartedAt: firstStartTime(),
        prove: needsProof,
        sentBefore: notBefore,
        requestMayHaveBeenSent,
        mayHaveEarlierExecution,
        firstRunId: workflowInfo().firstExecutionRunId,
      },
    ]);
    return isOrderSearchResult(result)
      ? { result, reason: result.reason }
      : { reason: 'an operator completed the search of the order history by hand' };
  } catch (failure) {
    const cause = failure instanceof ActivityFailure ? failure.cause : undefined;
    return {
      reason: `the search of the order history proved nothing${cause ? `: ${withoutErrorCode(cause.message)}` : ''}`,
      retryAfterMs: cause instanceof ApplicationFailure ? retryDelayOf(cause) : 0,
    };
  }
}

const IF_ABSENT: Record<Confirm['ifAbsent']['kind'], string> = {
  attempt: 'the order is placed again',
  hold: 'the purchase is held for an operator',
  end: 'the purchase ends REJECTED',
};

/**
 * Describes the confirmation window and what follows.
 *
 * @param window epoch ms: its start (`notBefore`), and the latest time for a decision (`latest`).
 */
export function describeConfirmation(
  { confirmWindowMs }: PurchaseRecord['settings'],
  { notBefore, latest }: { notBefore: number; latest: number },
  ifAbsent: Confirm['ifAbsent']['kind'],
): string {
  const about = formatInstant(notBefore + confirmWindowMs);
  return (
    `the order history is searched; if an order is found, it is adopted; if not, ${IF_ABSENT[ifAbsent]}. ` +
    `Decision expected at about ${about}; if the history can't be read, no later than ${formatInstant(latest)}`
  );
}

/** Adopts the order that the history shows. Other billable orders are reported, because each of them costs money. */
export function adoptFound(purchase: PurchaseRecord, found: FoundOrders): OwnOrder {
  const { adopt: chosen, doubles } = chooseOrder(found);
  if (doubles.length > 0) {
    const alsoBought = doubles.map((order) => order.id);
    log.error('double purchase at the partner', { adopted: chosen.id, doubles: alsoBought });
    metrics.count('fulfilment_double_purchases', {}, doubles.length);
    const explanation = explainDoublePurchase(doubles.length);
    const orderIds = [chosen.id, ...alsoBought];
    startAttentionNotice(
      purchase,
      'DOUBLE_PURCHASE',
      { orderIds, explanation, advice: DOUBLE_PURCHASE_ADVICE },
      chosen.id,
    );
  }
  log.info('adopted the order that the history shows', { orderId: chosen.id });
  return { kind: 'order', orderId: chosen.id, adopted: true };
}

function hasOrders(orders: FoundOrder[]): orders is FoundOrders {
  return orders.length > 0;
}
