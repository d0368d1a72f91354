import type { Client } from '@temporalio/client';
import { PARTNER_ORDER_ID, REFERENCE_ID } from '../../contracts/search-attributes';
import { createBatchedList } from './batched-list';
import { withinMs } from './within-ms';

const MOST_OTHERS = 10;
/** How long an answer may take. The poll of an ended order waits for it and must not time out when lists hang (30 s in the SDK). */
const ANSWER_WITHIN_MS = 3_000;
/** Lists show an order within seconds after it was written. */
const REMEMBERED_MS = 60_000;
const MOST_REMEMBERED = 5_000;

/** Knows which purchases name an order as theirs: from Temporal's lists, and, because lists lag, from what this process has seen. */
export function createOrderOwners(client: Client, now: () => number = Date.now) {
  /** The latest order of each reference, oldest first. */
  const recent = new Map<string, { orderId: string; at: number }>();
  const listBy = createBatchedList(client, now);
  const owners = listBy(PARTNER_ORDER_ID.name, ({ typedSearchAttributes: attributes }) => [
    attributes.get(PARTNER_ORDER_ID),
    attributes.get(REFERENCE_ID),
  ]);
  const runs = listBy('WorkflowId', ({ workflowId, runId }) => [workflowId, runId]);
  const seenHere = (orderId: string) =>
    [...recent].filter(([, one]) => one.orderId === orderId && now() - one.at <= REMEMBERED_MS).map(([owner]) => owner);
  const others = (all: readonly string[], referenceId: string) =>
    all.filter((owner) => owner !== referenceId).slice(0, MOST_OTHERS);

  return {
    /** Notes that a purchase has this order and no other. */
    noteOwner(orderId: string, referenceId: string): void {
      recent.delete(referenceId);
      recent.set(referenceId, { orderId, at: now() });
      for (const [oldest, { at }] of recent) {
        if (recent.size <= MOST_REMEMBERED && now() - at <= REMEMBERED_MS) break;
        recent.delete(oldest);
      }
    },
    /**
     * References of other purchases, ten at most, that name this order: the partner may answer two placements with one id. If lists
     * can't be read in time the answer is empty: not knowing is no reason to withhold paid goods, and the reconciliation finds the rest.
     */
    async othersWithOrder(orderId: string, referenceId: string): Promise<string[]> {
      const seen = others(seenHere(orderId), referenceId);
      if (seen.length > 0) return seen;
      const listed = await withinMs(ANSWER_WITHIN_MS, owners.load(orderId)).catch(() => undefined);
      return others(listed?.values ?? [], referenceId);
    },
    /**
     * Whether lists show another execution with the id of this first run of a purchase; undefined if they don't show this one yet.
     * @throws ServiceError
     */
    async hasOtherExecution(workflowId: string, runId: string): Promise<boolean | undefined> {
      const { values, isWhole } = await runs.load(workflowId);
      if (values.some((other) => other !== runId)) return true;
      return isWhole && values.includes(runId) ? false : undefined;
    },
  };
}
