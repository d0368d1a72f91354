import { setTimeout as sleep } from 'node:timers/promises';
import { activityInfo, log } from '@temporalio/activity';
import { FAILURE } from '../contracts/failures';
import { ORDER_CHANGED_SIGNAL } from '../contracts/names';
import type { OrderChange, WatchActivities, WatchResult } from '../contracts/watch';
import { CLOCK_TOLERANCE_MS } from '../domain/clock-tolerance';
import { mayHaveEnded } from '../domain/order';
import { type HistoryRow, isPartnerError, isUnreadable, limitPauses } from '../partner';
import { hasNoLists, type WaitingPurchase } from '../temporal/client';
import { IDLE_ROUNDS, readRetry, WATCH_INTERVALS, watchInterval, watchPauses } from '../workflows/policies';
import type { ActivityDependencies } from './dependencies';
import { ACCESS_REFUSED, failure, nameOf } from './failures';
import { inParallel } from './in-parallel';
import { openProgress, type Progress } from './progress';
import { wakePurchase } from './wake-purchase';

/** What the watcher needs in addition to the other activities. */
export interface WatchDependencies extends ActivityDependencies {
  /** Aborts when the process is asked to stop: the watcher would else keep it for the whole of its grace time. */
  stopping: AbortSignal;
}

/** How many purchases are woken at the same time. */
const PARALLEL = 12;
/** A partner whose history shows ever new statuses must not fill the history of a purchase with signals. */
const MOST_WAKES = 8;

/** For which statuses of its row a purchase was woken, by `nameOfOrder`. */
type Woken = Map<string, Set<string>>;

interface Watch extends WatchDependencies {
  /** In memory only: after a restart a purchase is woken once more at the most. */
  woken: Woken;
  progress: Progress;
  signal: AbortSignal;
}

/** The activity that reads the order history for all purchases that wait so. What it sees is a hint: it only has them poll. */
export function createWatchActivities(deps: WatchDependencies): WatchActivities {
  const woken: Woken = new Map();
  return {
    async watchOrders() {
      const progress = openProgress();
      const signal = AbortSignal.any([progress.signal, deps.stopping]);
      try {
        return await watch({ ...deps, woken, progress, signal });
      } catch (error) {
        progress.signal.throwIfAborted();
        const why = deps.stopping.aborted ? 'its worker stops' : `unexpected ${nameOf(error)}`;
        throw failure(FAILURE.watchInterrupted, `${why}; begun anew`, { benign: deps.stopping.aborted });
      } finally {
        progress.close();
      }
    },
  };
}

/** One round an interval; one that takes longer is followed by the next at once. A round that fails is only a round. */
async function watch(context: Watch): Promise<WatchResult> {
  const intervalMs = watchInterval(context.settings);
  let idleRounds = 0;
  for (let round = 1; round <= WATCH_INTERVALS; round++) {
    const began = context.now();
    const waiting = await tryRound(context);
    if (waiting === 'no lists') return { needed: false };
    idleRounds = waiting === 0 ? idleRounds + 1 : 0;
    if (idleRounds >= IDLE_ROUNDS) return { needed: false };
    // Clamped at both ends: a clock that is set back must not stop it.
    const pauseMs = Math.min(Math.max(began + intervalMs - context.now(), 0), intervalMs);
    await sleep(pauseMs, undefined, { signal: context.signal });
  }
  return { needed: true };
}

/** @returns how many purchases wait; undefined where that could not be found out this time, `no lists` where it never can. */
async function tryRound(context: Watch): Promise<number | 'no lists' | undefined> {
  try {
    return await runRound(context);
  } catch (error) {
    context.signal.throwIfAborted();
    // The time-skipping test server's clock stands still as long as an activity runs: there the watcher ends.
    if (hasNoLists(error)) return 'no lists';
    if (isPartnerError(error) && error.kind === 'access') log.error(ACCESS_REFUSED, { why: error.message });
    log.warn('the order history could not be watched', { why: isPartnerError(error) ? error.message : nameOf(error) });
    return undefined;
  }
}

/** Lists the purchases that wait, reads the order history back to the oldest of them, and wakes whose order may have ended. */
async function runRound(context: Watch): Promise<number> {
  const { purchases, partner, progress, signal, woken } = context;
  const unseen = new Map<string, WaitingPurchase>();
  for await (const purchase of purchases.waiting(activityInfo().taskQueue)) {
    signal.throwIfAborted();
    unseen.set(nameOfOrder(purchase), purchase);
  }
  for (const name of woken.keys()) if (!unseen.has(name)) woken.delete(name);
  const waiting = unseen.size;
  progress.show('reading the order history', { waiting });
  if (waiting === 0) return 0;

  const since = [...unseen.values()].reduce((oldest, purchase) => Math.min(oldest, purchase.since), Infinity);
  await partner.withPermits({ class: 'poll', signal }, (permitted) =>
    permitted.ordersSince(since - CLOCK_TOLERANCE_MS, {
      retry: { ...readRetry, mayPause: limitPauses(watchPauses), signal },
      async enough(rows) {
        const changed = changedAmong(rows, unseen);
        await inParallel(changed, PARALLEL, (one) => wake(context, one));
        return unseen.size === 0;
      },
    }),
  );
  return waiting;
}

interface ChangedRow {
  purchase: WaitingPurchase;
  status: string;
}

/** Takes those that the rows show out of `unseen`. A row counts only with the reference of the purchase, byte for byte. */
function changedAmong(rows: readonly HistoryRow[], unseen: Map<string, WaitingPurchase>): ChangedRow[] {
  return rows.flatMap((row) => {
    if (isUnreadable(row)) return [];
    const name = nameOfOrder({ orderId: row.id, referenceId: row.referenceId });
    const purchase = unseen.get(name);
    if (purchase === undefined) return [];
    unseen.delete(name);
    return mayHaveEnded(row.status) ? [{ purchase, status: row.status }] : [];
  });
}

/** Neither an order id that may stand in a path nor a reference has a space. */
function nameOfOrder({ orderId, referenceId }: { orderId: string; referenceId: string | undefined }): string {
  return `${orderId} ${referenceId ?? ''}`;
}

/** Has a purchase poll its order, once for each status: it polls by itself as well, and what the history shows may never come. */
async function wake({ client, woken }: Watch, { purchase, status }: ChangedRow): Promise<void> {
  const { workflowId, orderId } = purchase;
  const name = nameOfOrder(purchase);
  const statuses = woken.get(name) ?? new Set();
  if (statuses.has(status) || statuses.size >= MOST_WAKES) return;
  const change: OrderChange = { orderId };
  if (await wakePurchase(client, workflowId, ORDER_CHANGED_SIGNAL, change)) woken.set(name, statuses.add(status));
}
