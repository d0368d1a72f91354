import { type Client, type WorkflowExecutionInfo } from '@temporalio/client';
import { PURCHASE_WORKFLOW, referenceOfPurchase } from '../contracts/names';
import { possibleCommands } from '../contracts/operator-commands';
import type { Hold, StateAfterEnd } from '../contracts/public-types';
import { holdIn } from '../contracts/purchase';
import { inState, withoutResult } from '../contracts/purchase-queries';
import { PARTNER_ORDER_ID } from '../contracts/search-attributes';
import { toSingleLine } from '../domain/text-format';
import { isSafeOrderId } from '../domain/order';
import {
  hasResultOrIsRunning,
  mayGetMoreKeys,
  PURCHASE_OUTCOMES,
  PURCHASE_STATES,
  type PurchaseOutcome,
  type PurchaseState,
  STATE_MEANINGS,
} from '../domain/purchase-state';
import { quoteValue } from '../domain/purchase-rules';
import { createPurchaseReader, type PurchaseReader } from '../temporal/client';
import { isFinal, listAfterEnd } from './after-end';
import { type CurrentState, listedStateOf, type WorkflowStatus } from './current-state';
import { expectedOneOf } from './did-you-mean';
import { InvalidArgumentError } from './errors';
import { namesOf, checkFields } from './unknown-fields';

const DAY_MS = 24 * 3_600_000;
const MAX_TEXT_LENGTH = 600;
/** The most purchases that are read to find those that have waited longest. */
const MAX_COMPARED = 10_000;

/** Selects purchases. */
export interface ListFilter {
  /**
   * The purchase's own state: with `OVERDUE`, the list also has purchases that ended `OVERDUE` and were delivered later.
   * Default: the purchases that need attention, because they are held or ended without a result.
   */
  state?: PurchaseState | undefined;
  /** The maximum age of {@link ListedPurchase.since}, in ms. Default for purchases without a result: 24 hours. */
  maxAgeMs?: number | undefined;
  /** The maximum number of purchases. Default 100. */
  limit?: number | undefined;
}

const FILTER_FIELDS = namesOf<ListFilter>({ state: true, maxAgeMs: true, limit: true });

/** A purchase in a list. Timestamps are ISO 8601. */
export interface ListedPurchase {
  referenceId: string;
  workflowId: string;
  runId: string;
  /**
   * The current state: after a late delivery, the new one. A list does not show whether a worker has picked a
   * purchase up, so a new purchase is `PLACING`, where `status` may return `STARTED`.
   */
  state: CurrentState;
  /** How the purchase ended, if a late delivery has changed its state since. */
  outcome?: PurchaseOutcome | 'ENDED_WITHOUT_RESULT' | undefined;
  workflowStatus: WorkflowStatus;
  /** When the purchase was held or ended, otherwise when it started. */
  since: string;
  startedAt: string;
  orderId?: string | undefined;
  /** The reason for the state, or for `outcome` if it is present. The code of a hold is in `hold.reason`. */
  explanation: string;
  hold?: Hold | undefined;
  /** The state of the sale after a late delivery. Present only if keys were still missing at the end. */
  afterEnd?: StateAfterEnd | undefined;
  /** The commands that apply. A line that begins with # says what to check first. Empty if none does. */
  commands: string[];
}

/** A list of purchases. The longest wait comes first. */
export interface PurchaseList {
  purchases: ListedPurchase[];
  /** About how many more purchases match. Unless more than 10,000 match, these have waited less time. */
  moreCount: number;
  /** Without `state`: how many purchases are waiting for the partner and will continue by themselves. */
  pausedCount?: number | undefined;
}

/**
 * @throws InvalidArgumentError
 * @internal
 */
export async function listPurchases(client: Client, filter: ListFilter): Promise<PurchaseList> {
  checkFields(filter, FILTER_FIELDS);
  const { state, maxAgeMs, limit = 100 } = filter;
  if (state !== undefined && !PURCHASE_STATES.includes(state)) {
    throw new InvalidArgumentError(`state: ${expectedOneOf(PURCHASE_STATES, state)}`);
  }
  if (maxAgeMs !== undefined && !(Number.isSafeInteger(maxAgeMs) && maxAgeMs >= 0)) {
    throw new InvalidArgumentError(`maxAgeMs: expected a whole number of milliseconds, got ${quoteValue(maxAgeMs)}`);
  }
  if (!(Number.isSafeInteger(limit) && limit > 0)) {
    throw new InvalidArgumentError(`limit: expected a whole number above 0, got ${quoteValue(limit)}`);
  }
  const now = Date.now();
  const since = maxAgeMs === undefined ? undefined : now - maxAgeMs;
  const query = state === undefined ? needingAttention(since ?? now - DAY_MS) : inState(state, since);
  const list = await readList(client, { query, since, limit });
  const purchases = await withAfterEnd(client, list.purchases);
  if (state !== undefined) return { ...list, purchases };
  const waiting = purchases.filter(({ afterEnd }) => !isFinal(afterEnd));
  return { ...list, purchases: waiting, pausedCount: await countListed(client, inState('PAUSED')) };
}

async function readList(
  client: Client,
  { query, since, limit }: { query: string; since?: number; limit: number },
): Promise<PurchaseList> {
  const reader = createPurchaseReader(client);
  const found: ListedPurchase[] = [];
  let read = 0;
  let unread = 0;
  // The server lists the newest purchases first, so the longest waits come last.
  for await (const execution of reader.list(`(${query})`)) {
    if (found.length >= Math.max(limit, MAX_COMPARED)) {
      unread = Math.max((await countListed(client, query)) - read, 1);
      break;
    }
    read += 1;
    const purchase = toListedPurchase(execution);
    if (since === undefined || Date.parse(purchase.since) >= since) found.push(purchase);
  }
  // Checking for a reset costs a request, so only the purchases to show are checked.
  const purchases: ListedPurchase[] = [];
  let compared = 0;
  for (const purchase of found.toSorted((one, other) => (one.since < other.since ? -1 : 1))) {
    if (purchases.length >= limit) break;
    compared += 1;
    if (!(await hasBeenReset(reader, purchase))) purchases.push(purchase);
  }
  return { purchases, moreCount: found.length - compared + unread };
}

/** Updates each purchase that may have received keys after its end. */
async function withAfterEnd(client: Client, purchases: ListedPurchase[]): Promise<ListedPurchase[]> {
  const open = purchases.filter(mayGetKeys).map(({ referenceId }) => referenceId);
  const ends = await listAfterEnd(createPurchaseReader(client), open);
  return purchases.map((purchase) => {
    const afterEnd = mayGetKeys(purchase) ? ends.get(purchase.referenceId) : undefined;
    // A purchase that was reset has ended once more since an earlier delivery.
    return afterEnd && afterEnd.at > purchase.since ? withStateAfterEnd(purchase, afterEnd) : purchase;
  });
}

function withStateAfterEnd(purchase: ListedPurchase, afterEnd: StateAfterEnd): ListedPurchase {
  const { state } = afterEnd;
  const outcome = [...PURCHASE_OUTCOMES, 'ENDED_WITHOUT_RESULT' as const].find((end) => end === purchase.state);
  const commands = isFinal(afterEnd) ? [] : purchase.commands;
  return { ...purchase, state, outcome: outcome === state ? undefined : outcome, afterEnd, commands };
}

/** Whether it ended with keys missing or without a result. Without commands, its id is not from this software. */
function mayGetKeys({ state, workflowStatus, commands }: ListedPurchase): boolean {
  return commands.length > 0 && (mayGetMoreKeys(state) || !hasResultOrIsRunning(workflowStatus));
}

async function countListed({ workflow }: Client, query: string): Promise<number> {
  return (await workflow.count(`WorkflowType = '${PURCHASE_WORKFLOW}' AND (${query})`)).count;
}

function needingAttention(since: number): string {
  return `(${inState('HELD')}) OR (${withoutResult(since)})`;
}

/** A reset terminates one run and starts another, so the purchase continues. */
async function hasBeenReset(
  reader: PurchaseReader,
  { workflowStatus, workflowId, runId }: ListedPurchase,
): Promise<boolean> {
  const referenceId = referenceOfPurchase(workflowId);
  if (hasResultOrIsRunning(workflowStatus) || referenceId === undefined) return false;
  const latest = await reader.describeIfKnown(referenceId);
  return latest !== undefined && latest.runId !== runId;
}

function toListedPurchase(execution: WorkflowExecutionInfo): ListedPurchase {
  const { workflowId, runId, status, startTime, closeTime, memo, typedSearchAttributes: attributes } = execution;
  // Commands use the workflow id, because any client can write the search attributes.
  const typeable = referenceOfPurchase(workflowId);
  const referenceId = typeable ?? toSingleLine(workflowId, MAX_TEXT_LENGTH);
  const orderId = attributes.get(PARTNER_ORDER_ID);
  const startedAt = startTime.toISOString();
  const listedState = listedStateOf(execution);
  const state = PURCHASE_STATES.find((known) => known === listedState);
  // Operators paste from lists into shells, so nothing but a purchase shows a hold.
  const hold = typeable !== undefined && state === 'HELD' ? holdIn(memo) : undefined;
  return {
    referenceId,
    workflowId,
    runId,
    state: listedState,
    workflowStatus: status.name,
    since: toSingleLine(hold?.since ?? closeTime?.toISOString() ?? startedAt, MAX_TEXT_LENGTH),
    startedAt,
    orderId: orderId !== undefined && isSafeOrderId(orderId) ? orderId : undefined,
    explanation: toSingleLine(explain(execution, state, hold), MAX_TEXT_LENGTH),
    hold,
    commands: typeable === undefined ? [] : possibleCommands({ referenceId, state, hold }),
  };
}

function explain({ status, memo }: WorkflowExecutionInfo, state?: PurchaseState, hold?: Hold): string {
  if (hold) return hold.explanation;
  if (status.name === 'FAILED')
    return 'failed: its input was probably invalid, so this execution bought nothing; its status shows the reason';
  if (state === undefined) return `ended without a result (${status.name}): the partner may have an order for it`;
  return typeof memo?.reason === 'string' ? memo.reason : STATE_MEANINGS[state];
}
