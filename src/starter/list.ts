import { type Client, type WorkflowExecutionInfo } from '@temporalio/client';
import { PURCHASE_WORKFLOW, purchaseWorkflowId, referenceIdOfWorkflow } from '../contracts/names';
import { fittingCommands } from '../contracts/operator-commands';
import type { HoldNotice } from '../contracts/public-types';
import { holdIn } from '../contracts/purchase';
import { inState, withoutResult } from '../contracts/purchase-queries';
import { PARTNER_ORDER_ID, PURCHASE_STATE } from '../contracts/search-attributes';
import { inOneLine } from '../domain/texts';
import { isSafeOrderId } from '../domain/order';
import { PURCHASE_STATES, type PurchaseState, STATE_MEANINGS } from '../domain/purchase-state';
import { validateReference } from '../domain/purchase-rules';
import { createPurchaseReader, type PurchaseReader } from '../temporal/client';
import { NotAnsweredError, StarterError } from './errors';

const DAY_MS = 24 * 3_600_000;
const LONGEST_TEXT = 600;

/** Which purchases to list. */
export interface ListFilter {
  /** Without it those that wait for a person: held ones, and those that ended without a result. */
  state?: PurchaseState | undefined;
  /** No older than so many ms, by {@link ListedPurchase.since}. Of those that ended without a result, 24 hours if not given. */
  sinceMs?: number | undefined;
  /** The most to list. Default 100. */
  limit?: number | undefined;
}

/** A purchase in a list. Instants are ISO 8601. */
export interface ListedPurchase {
  referenceId: string;
  workflowId: string;
  runId: string;
  /** Its state; of one that ended without a result how it did: FAILED, TERMINATED or TIMED_OUT. */
  state: string;
  /** RUNNING, COMPLETED, or what `state` says of one that ended without a result. */
  execution: string;
  /** When it was held, when it ended, or else when it was started. */
  since: string;
  startedAt: string;
  orderId?: string | undefined;
  /** Why it is in that state, in words. */
  reason: string;
  hold?: HoldNotice | undefined;
  /** What a person may type. */
  commands: string[];
}

/** Oldest first. */
export interface PurchaseList {
  purchases: ListedPurchase[];
  /** About so many more were started before those that are listed. */
  more: number;
  /** Of the purchases that wait for a person: so many others wait for the partner, and go on by themselves. */
  paused?: number | undefined;
}

/** What `list` of the library does. */
export async function listPurchases(
  client: Client,
  { state, sinceMs, limit = 100 }: ListFilter,
  withinMs: number,
): Promise<PurchaseList> {
  if (state !== undefined && !PURCHASE_STATES.includes(state)) {
    throw new StarterError(`expected a state, one of ${PURCHASE_STATES.join(', ')}, got ${String(state)}`, 2);
  }
  const now = Date.now();
  const since = sinceMs === undefined ? undefined : now - sinceMs;
  const query = state === undefined ? waitingForPeople(since ?? now - DAY_MS) : inState(state, since);
  const deadline = now + withinMs;
  try {
    return await client.withDeadline(deadline, async () => {
      const list = await readList(client, { query, since, limit });
      return state === undefined ? { ...list, paused: await countListed(client, inState('PAUSED')) } : list;
    });
  } catch (error) {
    if (Date.now() < deadline) throw error;
    throw new NotAnsweredError(`Temporal did not list them within ${withinMs / 1_000} s: ask for less, with --since`);
  }
}

async function readList(
  client: Client,
  { query, since, limit }: { query: string; since?: number; limit: number },
): Promise<PurchaseList> {
  const reader = createPurchaseReader(client);
  const purchases: ListedPurchase[] = [];
  let read = 0;
  let more = 0;
  for await (const execution of reader.list(`(${query})`)) {
    if (purchases.length >= limit) {
      more = Math.max((await countListed(client, query)) - read, 1);
      break;
    }
    read += 1;
    if (await wasReset(reader, execution)) continue;
    const purchase = listed(execution);
    if (since === undefined || Date.parse(purchase.since) >= since) purchases.push(purchase);
  }
  return { purchases: purchases.toSorted((one, other) => (one.since < other.since ? -1 : 1)), more };
}

async function countListed({ workflow }: Client, query: string): Promise<number> {
  return (await workflow.count(`WorkflowType = '${PURCHASE_WORKFLOW}' AND (${query})`)).count;
}

function waitingForPeople(since: number): string {
  return `(${inState('HELD')}) OR (${withoutResult(since)})`;
}

/** A reset terminates the run before it: the purchase goes on. */
async function wasReset(reader: PurchaseReader, execution: WorkflowExecutionInfo): Promise<boolean> {
  if (hasResultOrRuns(execution)) return false;
  const latest = await reader.describeIfKnown(referenceIdOfWorkflow(execution.workflowId));
  return latest !== undefined && latest.runId !== execution.runId;
}

function listed(execution: WorkflowExecutionInfo): ListedPurchase {
  const { workflowId, runId, status, startTime, closeTime, memo, typedSearchAttributes: attributes } = execution;
  // The search attributes can be written by anybody who starts a workflow; the id is what the commands act on.
  const referenceId = inOneLine(referenceIdOfWorkflow(workflowId), LONGEST_TEXT);
  const orderId = attributes.get(PARTNER_ORDER_ID);
  const startedAt = startTime.toISOString();
  const shown = hasResultOrRuns(execution) ? attributes.get(PURCHASE_STATE) : undefined;
  const state = PURCHASE_STATES.find((known) => known === shown);
  const hold = state === 'HELD' ? holdIn(memo) : undefined;
  const isTypeable = workflowId === purchaseWorkflowId(referenceId) && validateReference(referenceId).length === 0;
  return {
    referenceId,
    workflowId,
    runId,
    state: state ?? status.name,
    execution: status.name,
    since: hold?.since ?? closeTime?.toISOString() ?? startedAt,
    startedAt,
    orderId: orderId !== undefined && isSafeOrderId(orderId) ? orderId : undefined,
    reason: inOneLine(reasonOf(execution, state, hold), LONGEST_TEXT),
    hold,
    commands: isTypeable ? fittingCommands({ referenceId, state, hold }) : [],
  };
}

function reasonOf({ status, memo }: WorkflowExecutionInfo, state?: PurchaseState, hold?: HoldNotice): string {
  if (hold) return `${hold.reason}: ${hold.explanation}`;
  if (state === undefined) return `ended without a result (${status.name}): the partner may have an order for it`;
  return typeof memo?.reason === 'string' ? memo.reason : STATE_MEANINGS[state];
}

function hasResultOrRuns({ status }: WorkflowExecutionInfo): boolean {
  return status.name === 'RUNNING' || status.name === 'COMPLETED';
}
