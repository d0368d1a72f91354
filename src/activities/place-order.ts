import { setTimeout as sleep } from 'node:timers/promises';
import { activityInfo, log } from '@temporalio/activity';
import type { Activities, PlaceOrderInput, PlacementResult } from '../contracts/activities';
import { maxDebitIssue } from '../domain/money';
import { errorName, safeTraceId } from '../domain/safe-values';
import { isPartnerError, type PartnerClient, type PartnerError } from '../partner';
import { withTimeout } from '../temporal/client';
import { PLACEMENT_WRITE_MS } from '../workflows/policies';
import type { Admission, PartnerHealth } from './circuit-breaker';
import { type ActivityDependencies, ownRunId, wasDispatchedBefore } from './dependencies';
import { ACCESS_DENIED } from './failures';
import { findByReference } from './find-orders';
import { createPriceList, type ReadPrices } from './price-list';
import { createIntentionRecord, createSerialQueue, type SerialQueue } from './record-intention';

/** Reserved at the end of the attempt for reporting "not sent". */
const RESULT_RESERVE_MS = 1_000;
/** Lists show a purchase shortly after it starts; on some servers this takes a second. */
const LIST_TRIES = 4;
const BETWEEN_LIST_TRIES_MS = 500;

/** How an attempt ended, and what this says about the partner. */
interface AttemptEnd {
  result: PlacementResult;
  health: PartnerHealth;
  /** The code of a broken connection, for the log. The result's `reason` reaches events, so it contains no code. */
  code?: string;
}

/**
 * The only activity that spends money. It sends at most one request, behind six fences against a second one
 * (docs/architecture.md#what-prevents-a-second-placement), and reports what the response proves. Neither a
 * cancel request nor a shutdown aborts the request, because an abort would not undo it.
 */
export function createPlaceOrderActivities(deps: ActivityDependencies): Pick<Activities, 'placeOrder'> {
  const serialQueue = createSerialQueue();
  const readPrices = createPriceList(deps.partner);
  return {
    async placeOrder(input) {
      const fenced = fenceReason(input);
      if (fenced !== undefined) return { evidence: 'FENCED', reason: fenced, inFlight: true };
      // Before the circuit breaker: a purchase that is paused for all of PURCHASE_PLACE_WITHIN needs this result to end.
      const other = await checkOtherExecutions(deps, input);
      if (other) {
        logResult(other);
        return other.result;
      }
      // After the decision `replace`, the check was skipped and proves nothing.
      const isOnlyExecution = !isReplacing(input);
      const admission = deps.circuitBreaker.admit(input.referenceId);
      if ('paused' in admission) return { ...paused(admission.paused), isOnlyExecution };
      let ended: AttemptEnd | undefined;
      try {
        ended = await placeBehindFences({ ...deps, admission, readPrices, serialQueue }, input);
        logResult(ended);
        return { ...ended.result, isOnlyExecution };
      } finally {
        const { result, health = 'UNKNOWN' } = ended ?? {};
        admission.end(health, result && 'reason' in result ? result.reason : undefined);
      }
    },
  };
}

/**
 * Fences 1 and 2.
 * @returns why this attempt must not send: an earlier one may have sent; undefined if this one may
 */
function fenceReason(input: PlaceOrderInput): string | undefined {
  if (wasDispatchedBefore()) return 'this attempt was dispatched twice';
  return isFirstRun(input) || isReplacing(input) ? undefined : 'an earlier run may have placed the order';
}

function isFirstRun({ firstRunId }: PlaceOrderInput): boolean {
  return ownRunId() === firstRunId;
}

/** Whether an operator decided in this run to place the order again. */
function isReplacing({ replaceInRun }: PlaceOrderInput): boolean {
  return ownRunId() === replaceInRun;
}

interface AttemptContext extends ActivityDependencies {
  admission: Admission;
  readPrices: ReadPrices;
  serialQueue: SerialQueue;
}

/** Sends the request only if fences 4 to 6 allow it. */
async function placeBehindFences(deps: AttemptContext, input: PlaceOrderInput): Promise<AttemptEnd> {
  const priceCheck = await checkPrice(deps, input);
  if (priceCheck?.result.evidence === 'NOT_SENT') return priceCheck;
  // The oldest purchase goes first. The search takes its permits one by one, and then the write takes one.
  const permits = {
    class: 'placement',
    dueAt: input.purchaseStartedAt,
    notAfter: writeDeadline(input) - PLACEMENT_WRITE_MS,
  } as const;
  return deps.partner.withPermits(permits, async (partner) => {
    const found = await findExistingOrder(partner, deps, input);
    // An existing order is adopted even if its price is over the limit by now.
    const ended = found ?? priceCheck;
    if (ended) return ended;
    const reason = deps.admission.pauseReason();
    return reason === undefined ? send(partner, deps, input) : withUnknownHealth(paused(reason));
  });
}

/**
 * Fence 3: without RejectDuplicate, a start can run a reference twice.
 * @returns the end of the attempt; undefined to continue
 */
async function checkOtherExecutions(
  deps: ActivityDependencies,
  input: PlaceOrderInput,
): Promise<AttemptEnd | undefined> {
  if (input.startedWithRejectDuplicate || isReplacing(input)) return undefined;
  const listed = await readInTime(deps, input, {
    reservedMs: input.maxAgeMs / 2,
    read: () => hasOtherExecution(deps),
    slow: "Temporal's list does not show this purchase yet, so it may not show an earlier one either",
    failed: "Temporal's list of executions could not be read",
  });
  if ('ended' in listed) return listed.ended;
  const reason = 'another execution for this reference may have placed the order';
  return listed.value ? withUnknownHealth({ evidence: 'FENCED', reason, inFlight: true }) : undefined;
}

async function hasOtherExecution({ purchases }: ActivityDependencies): Promise<boolean | undefined> {
  const { workflowId = '', runId = '' } = activityInfo().workflowExecution ?? {};
  for (let attempt = 1; ; attempt++) {
    const hasOther = await purchases.hasOtherExecution(workflowId, runId);
    if (hasOther !== undefined || attempt >= LIST_TRIES) return hasOther;
    await sleep(BETWEEN_LIST_TRIES_MS);
  }
}

/** @returns the end of the attempt; undefined if the catalogue's price is within `maxDebit`. */
async function checkPrice(deps: AttemptContext, input: PlaceOrderInput): Promise<AttemptEnd | undefined> {
  const { items, maxDebit } = input;
  if (maxDebit === undefined) return undefined;
  // Half of the time is reserved for the search and the write.
  const prices = await readInTime(deps, input, {
    reservedMs: input.maxAgeMs / 2,
    read: (timeLeftMs) => deps.readPrices(timeLeftMs / 2),
    slow: 'the catalogue is still being read for its prices',
    failed: 'the catalogue could not be read',
  });
  if ('ended' in prices) return prices.ended;
  const reason = maxDebitIssue(items, maxDebit, prices.value);
  return reason === undefined ? undefined : withUnknownHealth({ evidence: 'OVER_MAX_DEBIT', reason });
}

/**
 * Fence 4.
 * @returns the end of the attempt; undefined if the order history gives no reason not to send
 */
async function findExistingOrder(
  partner: PartnerClient,
  deps: AttemptContext,
  input: PlaceOrderInput,
): Promise<AttemptEnd | undefined> {
  // After the decision `replace`, fences 2 and 3 have not ruled out an earlier run or execution.
  const mayHaveEarlierRun = isReplacing(input) && !(input.startedWithRejectDuplicate && isFirstRun(input));
  const search = await readInTime(deps, input, {
    reservedMs: 0,
    read: () => findByReference(partner, { ...input, mayHaveEarlierRun }, deps),
    slow: 'the search of the order history took too long',
    failed: 'the order history could not be searched',
  });
  if ('ended' in search) return search.ended;
  const { orders, unclear } = search.value;
  // With `replace`, an operator chose to place it anyway.
  const isOverruled = isReplacing(input) && input.sentSinceReplace === false;
  if (unclear !== undefined && !isOverruled) return withUnknownHealth({ evidence: 'FENCED', reason: unclear });
  const [first, ...others] = orders;
  return (
    first && withUnknownHealth({ evidence: 'FOUND', orders: [first, ...others], reason: 'the order already exists' })
  );
}

interface PreliminaryRead<T> {
  /** Time reserved for the rest of the attempt, in ms. */
  reservedMs: number;
  read: (timeLeftMs: number) => Promise<T>;
  /** Messages for a read that takes too long and for a read that fails. */
  slow: string;
  failed: string;
}

/** Reads something that must be known before the order is placed. Any failure here means that nothing was sent. */
async function readInTime<T>(
  { now }: ActivityDependencies,
  input: PlaceOrderInput,
  { reservedMs, read, slow, failed }: PreliminaryRead<T>,
): Promise<{ value: T } | { ended: AttemptEnd }> {
  // Capped at `maxAgeMs`, because a worker whose clock is behind the server's would calculate too much time.
  const timeLeftMs = Math.min(writeDeadline(input) - now(), input.maxAgeMs) - RESULT_RESERVE_MS - reservedMs;
  const notSent = (reason: string) => ({ ended: withUnknownHealth({ evidence: 'NOT_SENT', reason }) });
  if (timeLeftMs <= 0) return notSent('the attempt was too old when a worker picked it up');
  try {
    const value = await withTimeout(timeLeftMs, read(timeLeftMs));
    return value === undefined ? notSent(slow) : { value };
  } catch (error) {
    if (!isPartnerError(error)) {
      log.error(`${failed} before placing the order`, { error: errorName(error) });
      return notSent(`${failed}: an unexpected error`);
    }
    const { summary, code, retryAfterMs, permitInMs } = error;
    if (error.kind === 'access') log.error(ACCESS_DENIED, { reason: error.message });
    const result = { evidence: 'NOT_SENT', reason: `${failed}: ${summary}`, retryAfterMs, permitInMs } as const;
    return { ended: { result, health: healthOf(error), code } };
  }
}

/**
 * Fences 5 and 6: sends the request, unless the intention can't be recorded or the attempt is too old. No timer here may
 * end the request early: only the client knows whether it was written, and after a freeze all timers fire at once.
 */
async function send(partner: PartnerClient, deps: AttemptContext, input: PlaceOrderInput): Promise<AttemptEnd> {
  const items = input.items.map((item) => ({ id: item.productId, quantity: item.quantity }));
  const intention = createIntentionRecord(deps, { notAfter: writeDeadline(input), serialQueue: deps.serialQueue });
  const limits = { notAfter: writeDeadline(input), timeoutMs: input.partnerTimeoutMs, beforeWrite: intention.record };
  try {
    const { data } = await partner.placeOrder({ items, referenceId: input.referenceId }, limits);
    deps.purchases.noteOwner(data.id, input.referenceId);
    return { result: { evidence: 'PLACED', orderId: data.id }, health: 'HEALTHY' };
  } catch (error) {
    if (!isPartnerError(error)) return withUnknownHealth({ evidence: 'UNKNOWN', reason: 'an unexpected error' });
    const { evidence, retryAfterMs, permitInMs, code } = error;
    return {
      result: { evidence, reason: withTraceId(error), retryAfterMs, permitInMs },
      health: healthOf(error),
      code,
    };
  } finally {
    intention.close();
  }
}

/** Adds the trace id, which the partner needs when it is asked about a rejection. */
function withTraceId({ evidence, summary, traceId }: PartnerError): string {
  const shown = safeTraceId(traceId);
  const isRejection = evidence === 'ORDER_REJECTED' || evidence === 'CONFLICT';
  return isRejection && shown !== undefined ? `${summary}, trace id ${shown}` : summary;
}

/** Epoch ms: this attempt may write no later than this. */
function writeDeadline(input: PlaceOrderInput): number {
  return activityInfo().currentAttemptScheduledTimestampMs + input.maxAgeMs;
}

function paused(reason: string): PlacementResult {
  return { evidence: 'PAUSED', reason: `new placements are paused: ${reason}` };
}

function withUnknownHealth(result: PlacementResult): AttemptEnd {
  return { result, health: 'UNKNOWN' };
}

function healthOf(error: PartnerError): PartnerHealth {
  return error.countsAgainstPartner ? 'FAILING' : 'UNKNOWN';
}

function logResult({ result, code }: AttemptEnd): void {
  const { evidence } = result;
  if (evidence === 'PLACED') return log.info('order placed', { orderId: result.orderId });
  if (evidence === 'ACCESS_DENIED') return log.error(ACCESS_DENIED, { reason: result.reason });
  log.warn(PLACEMENT_LOG_MESSAGES[evidence], { evidence, reason: result.reason, code });
}

const PLACEMENT_LOG_MESSAGES: Record<Exclude<PlacementResult['evidence'], 'PLACED' | 'ACCESS_DENIED'>, string> = {
  NOT_SENT: 'the order was not sent',
  PAUSED: 'the order was not sent: the circuit breaker is open',
  FOUND: 'the order already exists, so nothing was sent',
  OVER_MAX_DEBIT: 'the order would cost too much, so it was not sent',
  FENCED: 'the order was not sent, because it may already exist',
  ORDER_REJECTED: 'the partner rejected the order',
  CONFLICT: 'the partner reports that the order already exists',
  ERROR_RESPONSE: 'the partner responded with an error, and may still have placed the order',
  UNKNOWN: 'there was no usable response, and the order may have been placed',
};
