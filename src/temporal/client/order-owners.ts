import { performance } from 'node:perf_hooks';
import type { Client } from '@temporalio/client';
import { purchaseWorkflowId, referenceOfPurchase } from '../../contracts/names';
import { PARTNER_ORDER_ID } from '../../contracts/search-attributes';
import type { BatchedList } from './batched-list';
import { readRecordedOrderId } from './run-history';
import { withTimeout } from './with-timeout';

const MAX_OTHER_OWNERS = 10;
/** The poll of an ended order waits for this response, and must not time out if lists hang (30 s in the SDK). */
const RESPONSE_TIMEOUT_MS = 3_000;
/** This is enough, because lists show an order within seconds. */
const REMEMBERED_MS = 60_000;
const MAX_REMEMBERED = 5_000;

/**
 * Knows which purchases have an order: from Temporal's lists and, because lists lag, from what this process has seen.
 */
export function createOrderOwners(client: Client, listBy: BatchedList) {
  /** The latest order by reference, oldest first. */
  const recent = new Map<string, { orderId: string; at: number }>();
  const byOrder = listBy(PARTNER_ORDER_ID.name, ({ typedSearchAttributes }) =>
    typedSearchAttributes.get(PARTNER_ORDER_ID),
  );
  const seenHere = (orderId: string) =>
    [...recent]
      .filter(([, one]) => one.orderId === orderId && performance.now() - one.at <= REMEMBERED_MS)
      .map(([owner]) => owner);
  /**
   * Any client can start a workflow with any search attribute, so the history of each run must show the order. The
   * oldest runs come first, because nobody knows an order's id before its owner has started.
   */
  const listedOwners = async (orderId: string, referenceId: string): Promise<string[]> => {
    const { runs } = await byOrder.load(orderId);
    const others = runs.filter(({ workflowId }) => workflowId !== purchaseWorkflowId(referenceId));
    const oldestFirst = others.toSorted((a, b) => a.startTime.getTime() - b.startTime.getTime());
    const owners = oldestFirst.slice(0, MAX_OTHER_OWNERS).map(async (run) => {
      const isOwner = (await readRecordedOrderId(client, run)) === orderId;
      return (isOwner && referenceOfPurchase(run.workflowId)) || [];
    });
    return [...new Set((await Promise.all(owners)).flat())];
  };

  return {
    /** Remembers that a purchase has this order. */
    noteOwner(orderId: string, referenceId: string): void {
      recent.delete(referenceId);
      recent.set(referenceId, { orderId, at: performance.now() });
      for (const [oldest, { at }] of recent) {
        if (recent.size <= MAX_REMEMBERED && performance.now() - at <= REMEMBERED_MS) break;
        recent.delete(oldest);
      }
    },
    /**
     * The references of at most ten other purchases with this order: the partner may return one id for two placements.
     * Empty if lists can't be read in time, because paid keys must not wait, and the reconciliation checks again.
     */
    async othersWithOrder(orderId: string, referenceId: string): Promise<string[]> {
      const seen = seenHere(orderId).filter((owner) => owner !== referenceId);
      if (seen.length > 0) return seen.slice(0, MAX_OTHER_OWNERS);
      const listed = await withTimeout(RESPONSE_TIMEOUT_MS, listedOwners(orderId, referenceId)).catch(() => undefined);
      return listed ?? [];
    },
  };
}
