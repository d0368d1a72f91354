import { setTimeout as sleep } from 'node:timers/promises';
import { activityInfo, log } from '@temporalio/activity';
import type { BrakeActivities, NextPaused, PurchasingNotice } from '../contracts/brake';
import { PURCHASING_REFERENCE, RESUME_PLACING_SIGNAL } from '../contracts/names';
import { nextToLetThrough } from '../domain/brake';
import { isPartnerError } from '../partner';
import { hasNoLists, type PausedPurchase, startEventDelivery, withinMs } from '../temporal/client';
import { slotWait, WAKE_BATCH, wakeInterval } from '../workflows/policies';
import type { ActivityDependencies } from './dependencies';
import { ACCESS_REFUSED } from './failures';
import { inParallel } from './in-parallel';
import { openProgress } from './progress';
import { wakePurchase } from './wake-purchase';

/** The most that are listed at once: the others wait for the next time, or ask by themselves. */
const MOST_LISTED = 20_000;
/** To find one that has begun to wait of late, so many of a list in no order are enough. */
const MOST_COMPARED = 500;
/** So long a list is waited for, in ms: the SDK waits half a minute, which is longer than the activity may take. */
const LIST_WITHIN_MS = 3_000;
/** After so long lists surely show what has been so before. */
const LISTS_LAG_MS = 2_000;

/** The activities of the brake: what it does while it is closed, and when it opens. None of them buys anything. */
export function createBrakeActivities(deps: ActivityDependencies): BrakeActivities {
  return {
    async nextPaused({ probe, tried }) {
      const why = probe ? await probePartner(deps) : undefined;
      return why === undefined ? { referenceId: await newestPaused(deps, tried) } : ({ why } satisfies NextPaused);
    },
    wakePaused: () => wakePaused(deps),
    async notifyPurchasing(notice) {
      await notify(deps, notice);
      // An attempt that failed is repeated.
      const change = notice.type === 'purchasing.paused' ? 'closed' : 'opened';
      deps.metrics.count('fulfilment_brake_changes', { change, reason: notice.kind });
    },
  };
}

/** Reads one row of the order history. @returns why that did not succeed, in safe words */
async function probePartner({ partner, now }: ActivityDependencies): Promise<string | undefined> {
  const ask = { class: 'confirmation', notAfter: now() + slotWait } as const;
  try {
    await partner.withPermits(ask, (permitted) => permitted.listOrders({ limit: 1 }));
    return undefined;
  } catch (error) {
    if (!isPartnerError(error)) throw error;
    if (error.kind === 'access') log.error(ACCESS_REFUSED, { why: error.message });
    return error.message;
  }
}

/**
 * The oldest may just be over their time, after a partner that was away for as long as that. Lists that fail or hang show nobody, and a
 * brake for which nobody waits opens in the end: else all who wait would end without an order, though the partner may be back.
 */
async function newestPaused(deps: ActivityDependencies, tried: string[]): Promise<string | undefined> {
  const paused = await withinMs(LIST_WITHIN_MS, listPaused(deps, MOST_COMPARED)).catch(() => undefined);
  if (!paused) log.warn('who waits for the brake could not be listed');
  const newestFirst = (paused ?? []).toReversed().map(({ referenceId }) => referenceId);
  return nextToLetThrough(newestFirst, tried);
}

/** Oldest first, as far as they are listed. */
async function listPaused({ purchases }: ActivityDependencies, most: number): Promise<PausedPurchase[]> {
  const paused: PausedPurchase[] = [];
  try {
    for await (const purchase of purchases.paused(activityInfo().taskQueue)) {
      if (paused.push(purchase) >= most) break;
    }
  } catch (error) {
    // Whoever waits there asks by itself.
    if (!hasNoLists(error)) throw error;
  }
  return paused.toSorted((one, other) => one.since - other.since);
}

/** Whoever is missed, because lists lag or a signal got lost, asks by itself. */
async function wakePaused(deps: ActivityDependencies): Promise<{ woken: number }> {
  const progress = openProgress();
  const woken = new Set<string>();
  try {
    // Whoever began to wait just before is listed only the second time.
    for (const isLast of [false, true]) {
      const paused = (await listPaused(deps, MOST_LISTED)).filter(({ workflowId }) => !woken.has(workflowId));
      for (let next = 0; next < paused.length; next += WAKE_BATCH) {
        if (await deps.brake.isClosed()) return { woken: woken.size };
        const batch = paused.slice(next, next + WAKE_BATCH);
        await inParallel(batch, WAKE_BATCH, (one) => wakePurchase(deps.client, one.workflowId, RESUME_PLACING_SIGNAL));
        for (const { workflowId } of batch) woken.add(workflowId);
        progress.show('waking the purchases that wait', { woken: woken.size, waiting: paused.length - next });
        await sleep(wakeInterval, undefined, { signal: progress.signal });
      }
      if (!isLast) await sleep(LISTS_LAG_MS, undefined, { signal: progress.signal });
    }
    return { woken: woken.size };
  } finally {
    progress.close();
  }
}

/** By a workflow of its own, which tries for a day: the brake must not wait for the checkout. */
async function notify({ client }: ActivityDependencies, notice: PurchasingNotice): Promise<void> {
  const request = { ...notice, referenceId: PURCHASING_REFERENCE };
  const { taskQueue } = activityInfo();
  await startEventDelivery(client, taskQueue, request, { summary: `${notice.type}: ${notice.reason}` });
}
