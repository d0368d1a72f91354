import type { Client } from '@temporalio/client';
import DataLoader from 'dataloader';
import { PURCHASE_WORKFLOW } from '../../contracts/names';
import { PARTNER_ORDER_ID, REFERENCE_ID } from '../../contracts/search-attributes';
import { withinMs } from './within-ms';
import { BETWEEN_LIST_QUERIES_MS } from './lists';

/** Questions within this time of the first share one query. */
const SHARED_WITHIN_MS = 20;
/** A query with ids of the greatest length has about 10,000 characters then. */
const MOST_IDS = 50;
/** Each reset adds a row to a purchase, so there may be more rows than orders. Beyond this, each order has its own query. */
const MOST_ROWS = 1_000;
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
  let askedAt = -Infinity;
  const listed = new DataLoader<string, readonly string[]>((orderIds) => listOwners(client, orderIds), {
    cache: false,
    maxBatchSize: MOST_IDS,
    batchScheduleFn(ask) {
      // The server refuses list queries that come too fast.
      const dueAt = Math.max(now() + SHARED_WITHIN_MS, askedAt + BETWEEN_LIST_QUERIES_MS);
      askedAt = dueAt;
      setTimeout(ask, Math.max(0, dueAt - now()));
    },
  });
  const seenHere = (orderId: string) =>
    [...recent].filter(([, one]) => one.orderId === orderId && now() - one.at <= REMEMBERED_MS).map(([owner]) => owner);
  const others = (owners: readonly string[], referenceId: string) =>
    owners.filter((owner) => owner !== referenceId).slice(0, MOST_OTHERS);

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
      const owners = await withinMs(ANSWER_WITHIN_MS, listed.load(orderId)).catch(() => undefined);
      return others(owners ?? [], referenceId);
    },
  };
}

async function listOwners(client: Client, orderIds: readonly string[]): Promise<readonly string[][]> {
  const ids = [...new Set(orderIds)].map((id) => `'${id}'`).join(', ');
  const query = `WorkflowType = '${PURCHASE_WORKFLOW}' AND ${PARTNER_ORDER_ID.name} IN (${ids})`;
  const owners = new Map<string, Set<string>>();
  let rows = 0;
  for await (const { typedSearchAttributes: attributes } of client.workflow.list({ query, pageSize: MOST_ROWS })) {
    if (++rows > MOST_ROWS) break;
    const [orderId, owner] = [attributes.get(PARTNER_ORDER_ID), attributes.get(REFERENCE_ID)];
    if (orderId === undefined || owner === undefined) continue;
    owners.set(orderId, (owners.get(orderId) ?? new Set()).add(owner));
  }
  return orderIds.map((id) => [...(owners.get(id) ?? [])]);
}
