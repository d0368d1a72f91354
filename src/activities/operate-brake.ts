import { setTimeout as sleep } from 'node:timers/promises';
import { activityInfo, log } from '@temporalio/activity';
import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import type { BrakeActivities, NextPaused, PurchasingNotice } from '../contracts/brake';
import { eventIdOf } from '../contracts/event-id';
import { DELIVER_WORKFLOW, deliverWorkflowId, PURCHASING_REFERENCE, RESUME_PLACING_SIGNAL } from '../contracts/names';
import { isPartnerError } from '../partner';
import { grpcErrorOf, type PausedPurchase } from '../temporal/client';
import { slotWait, WAKE_BATCH, wakeInterval } from '../workflows/policies';
import type { ActivityDependencies } from './dependencies';
import { ACCESS_REFUSED, nameOf } from './failures';
import { inParallel } from './in-parallel';
import { openProgress } from './progress';

/** The most that are listed at once: the others wait for the next time, or ask by themselves. */
const MOST_LISTED = 20_000;
/** To find the oldest that waits, so many of a list in no order are enough. */
const MOST_COMPARED = 500;
/** Of gRPC. */
const UNIMPLEMENTED = 12;

/** The activities of the brake: what it does while it is closed, and when it opens. None of them buys anything. */
export function createBrakeActivities(deps: ActivityDependencies): BrakeActivities {
  return {
    async nextPaused({ probe, tried }) {
      const why = probe ? await probePartner(deps) : undefined;
      return why === undefined ? { referenceId: await oldestPaused(deps, tried) } : ({ why } satisfies NextPaused);
    },
    wakePaused: () => wakePaused(deps),
    async notifyPurchasing(notice) {
      const change = notice.type === 'purchasing.paused' ? 'closed' : 'opened';
      deps.metrics.count('fulfilment_brake_changes', { change, reason: notice.kind });
      await notify(deps, notice);
    },
  };
}

/** Reads one row of the order history. @returns why that did not succeed, in safe words */
async function probePartner({ partner, now }: ActivityDependencies): Promise<string | undefined> {
  const turn = { priority: 'search', key: 'brake', notAfter: now() + slotWait } as const;
  try {
    await partner.inTurn(turn, (inTurn) => inTurn.listOrders({ limit: 1 }));
    return undefined;
  } catch (error) {
    if (!isPartnerError(error)) throw error;
    if (error.kind === 'access') log.error(ACCESS_REFUSED, { why: error.message });
    return error.message;
  }
}

async function oldestPaused(deps: ActivityDependencies, tried: string[]): Promise<string | undefined> {
  const paused = await listPaused(deps, MOST_COMPARED);
  const untried = paused.filter(({ referenceId }) => !tried.includes(referenceId));
  return (untried[0] ?? paused[0])?.referenceId;
}

/** Oldest first, as far as they are listed. */
async function listPaused({ purchases }: ActivityDependencies, most: number): Promise<PausedPurchase[]> {
  const paused: PausedPurchase[] = [];
  try {
    for await (const purchase of purchases.paused(activityInfo().taskQueue)) {
      if (paused.push(purchase) >= most) break;
    }
  } catch (error) {
    // The time-skipping test server. Whoever waits there asks by itself.
    if (grpcErrorOf(error)?.code !== UNIMPLEMENTED) throw error;
  }
  return paused.toSorted((one, other) => one.since - other.since);
}

/** Whoever is missed, because lists lag or a signal got lost, asks by itself. */
async function wakePaused(deps: ActivityDependencies): Promise<{ woken: number }> {
  const progress = openProgress();
  let woken = 0;
  try {
    const paused = await listPaused(deps, MOST_LISTED);
    while (woken < paused.length && !(await deps.brake.isClosed())) {
      const batch = paused.slice(woken, woken + WAKE_BATCH);
      await inParallel(batch, WAKE_BATCH, (one) => wake(deps, one));
      woken += batch.length;
      progress.show('waking the purchases that wait', { woken, waiting: paused.length - woken });
      if (woken < paused.length) await sleep(wakeInterval, undefined, { signal: progress.signal });
    }
    return { woken };
  } finally {
    progress.close();
  }
}

async function wake({ client }: ActivityDependencies, { workflowId }: PausedPurchase): Promise<void> {
  try {
    await client.workflow.getHandle(workflowId).signal(RESUME_PLACING_SIGNAL);
  } catch (error) {
    // It has just ended; lists lag.
    if (error instanceof WorkflowNotFoundError) return;
    log.warn('a purchase could not be woken', { workflowId, why: nameOf(error) });
  }
}

/** By a workflow of its own, which tries for a day: the brake must not wait for the checkout. */
async function notify({ client }: ActivityDependencies, notice: PurchasingNotice): Promise<void> {
  const request = { ...notice, referenceId: PURCHASING_REFERENCE };
  try {
    await client.workflow.start(DELIVER_WORKFLOW, {
      workflowId: deliverWorkflowId({ eventId: eventIdOf(request) }),
      taskQueue: activityInfo().taskQueue,
      args: [request],
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      staticSummary: `${notice.type}: ${notice.reason}`,
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
