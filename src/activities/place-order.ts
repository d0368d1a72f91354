import { setTimeout as sleep } from 'node:timers/promises';
import { activityInfo, log } from '@temporalio/activity';
import type { Activities, PlaceOrderInput, PlacementResult } from '../contracts/activities';
import { maxDebitIssue } from '../domain/money';
import { presentableTraceId } from '../domain/presentable';
import { isPartnerError, type PartnerClient, type PartnerError } from '../partner';
import { withinMs } from '../temporal/client';
import { placementWriteTime } from '../workflows/policies';
import type { Admission, PlacementSign } from './circuit-breaker';
import type { ActivityDependencies } from './dependencies';
import { ACCESS_REFUSED, nameOf } from './failures';
import { findOrders } from './find-orders';
import { createPriceList, type ReadPrices } from './price-list';
import { createIntent, createSequence, type Sequence } from './record-intent';

/** Two times this close are one dispatch: the time-skipping server reads its clock twice for it. */
const ONE_DISPATCH_MS = 5;
/** A search gives up this long before the attempt is too old, so that "not sent" arrives in time. */
const ANSWER_MS = 1_000;
/** Lists show a purchase a moment after its start, on some servers a second. */
const LOOKS = 4;
const BETWEEN_LOOKS_MS = 500;

/** How an attempt ended, and what that shows about the partner. */
interface Ended {
  result: PlacementResult;
  sign: PlacementSign;
}

/**
 * The one activity that spends money. It sends at most one request, behind the six fences of
 * docs/architecture.md#what-makes-a-second-placement-impossible, and says what the answer proves. Neither a cancel nor a
 * shutdown aborts the request: that would not undo it.
 */
export function createPlaceOrderActivities(deps: ActivityDependencies): Pick<Activities, 'placeOrder'> {
  const oneByOne = createSequence();
  const readPrices = createPriceList(deps.partner);
  return {
    async placeOrder(input) {
      const fenced = whyFenced(input);
      if (fenced !== undefined) return { evidence: 'FENCED', why: fenced, inFlight: true };
      const admission = deps.circuitBreaker.admit(input.referenceId);
      if ('paused' in admission) return paused(admission.paused);
      let ended: Ended | undefined;
      try {
        ended = await attempt({ ...deps, admission, readPrices, oneByOne }, input);
        logResult(ended.result);
        return ended.result;
      } finally {
        const { result, sign = 'NOTHING' } = ended ?? {};
        admission.end(sign, result && 'why' in result ? result.why : undefined);
      }
    },
  };
}

function whyFenced(input: PlaceOrderInput): string | undefined {
  const { attempt, currentAttemptScheduledTimestampMs: dispatchedAt, scheduledTimestampMs } = activityInfo();
  if (attempt > 1 || dispatchedAt - scheduledTimestampMs > ONE_DISPATCH_MS) return 'this attempt was dispatched twice';
  return isFirstRun(input) || isReplacing(input) ? undefined : 'the run before this one may have placed it';
}

function isFirstRun({ firstRunId }: PlaceOrderInput): boolean {
  return activityInfo().workflowExecution?.runId === firstRunId;
}

/** Whether an operator has decided in this run that the order is placed again. */
function isReplacing({ replaceInRun }: PlaceOrderInput): boolean {
  return activityInfo().workflowExecution?.runId === replaceInRun;
}

/** What one attempt works with. */
interface Attempt extends ActivityDependencies {
  admission: Admission;
  readPrices: ReadPrices;
  oneByOne: Sequence;
}

async function attempt(deps: Attempt, input: PlaceOrderInput): Promise<Ended> {
  const other = await checkOtherExecutions(deps, input);
  if (other) return other;
  const priced = await checkPrice(deps, input);
  if (priced?.result.evidence === 'NOT_SENT') return priced;
  // The oldest purchase goes first. One permit after the other: those of the search, then that of the write.
  const permits = { class: 'placement', dueAt: input.since, notAfter: notAfter(input) - placementWriteTime } as const;
  return deps.partner.withPermits(permits, async (partner) => {
    const found = await findBefore(partner, deps, input);
    if (found ?? priced) return (found ?? priced) as Ended;
    const why = deps.admission.whyPaused();
    return why === undefined ? send(partner, deps, input) : nothing(paused(why));
  });
}

/** Whoever starts a workflow without RejectDuplicate starts one reference twice. @returns what ends the attempt, if anything does */
async function checkOtherExecutions(deps: Attempt, input: PlaceOrderInput): Promise<Ended | undefined> {
  if (input.startedOnce || isReplacing(input)) return undefined;
  const listed = await readInTime(deps, input, {
    restMs: input.maxAgeMs / 2,
    read: () => hasOtherExecution(deps),
    slow: "Temporal's list does not show this purchase yet, so it may not show an earlier one either",
    failed: "Temporal's list of executions could not be read",
  });
  if ('ended' in listed) return listed.ended;
  const why = 'another execution of this reference was started, and may have placed it';
  return listed.value ? nothing({ evidence: 'FENCED', why, inFlight: true }) : undefined;
}

async function hasOtherExecution({ purchases }: Attempt): Promise<boolean | undefined> {
  const { workflowId = '', runId = '' } = activityInfo().workflowExecution ?? {};
  for (let look = 1; ; look++) {
    const has = await purchases.hasOtherExecution(workflowId, runId);
    if (has !== undefined || look >= LOOKS) return has;
    await sleep(BETWEEN_LOOKS_MS);
  }
}

/** @returns why the purchase is not placed; undefined if it may cost as much as the catalogue says. */
async function checkPrice(deps: Attempt, input: PlaceOrderInput): Promise<Ended | undefined> {
  const { items, maxDebit } = input;
  if (maxDebit === undefined) return undefined;
  // The other half of the attempt is for the search and the write.
  const prices = await readInTime(deps, input, {
    restMs: input.maxAgeMs / 2,
    read: (timeLeftMs) => deps.readPrices(timeLeftMs / 2),
    slow: 'the catalogue is still being read for its prices',
    failed: 'the catalogue could not be read',
  });
  if ('ended' in prices) return prices.ended;
  const why = maxDebitIssue(items, maxDebit, prices.value);
  return why === undefined ? undefined : nothing({ evidence: 'OVER_MAX_DEBIT', why });
}

/** @returns what ends the attempt before anything is sent; undefined if nothing speaks against sending. */
async function findBefore(partner: PartnerClient, deps: Attempt, input: PlaceOrderInput): Promise<Ended | undefined> {
  const search = await readInTime(deps, input, {
    restMs: 0,
    read: () => findOrders(partner, input),
    slow: 'the search of the order history took too long',
    failed: 'the order history could not be searched',
  });
  if ('ended' in search) return search.ended;
  const { orders, unclear } = search.value;
  if (unclear !== undefined && !isReplacing(input)) return nothing({ evidence: 'FENCED', why: unclear });
  const [first, ...others] = orders;
  return first && nothing({ evidence: 'FOUND', orders: [first, ...others], why: 'the order is there already' });
}

interface ReadBefore<T> {
  /** How much of the attempt's time is for what follows, ms. */
  restMs: number;
  read: (timeLeftMs: number) => Promise<T>;
  /** What happened if it takes too long, or fails. */
  slow: string;
  failed: string;
}

/** Reads what a placement has to know first, in time for the rest of the attempt. */
async function readInTime<T>(
  { now }: Attempt,
  input: PlaceOrderInput,
  { restMs, read, slow, failed }: ReadBefore<T>,
): Promise<{ value: T } | { ended: Ended }> {
  // A worker whose clock is behind the server's would believe that it has more time than the attempt may take.
  const timeLeftMs = Math.min(notAfter(input) - now(), input.maxAgeMs) - ANSWER_MS - restMs;
  const notSent = (why: string) => ({ ended: nothing({ evidence: 'NOT_SENT', why }) });
  if (timeLeftMs <= 0) return notSent('the attempt was too old when a worker took it');
  try {
    const value = await withinMs(timeLeftMs, read(timeLeftMs));
    return value === undefined ? notSent(slow) : { value };
  } catch (error) {
    if (!isPartnerError(error)) {
      log.error(`${failed} before placing`, { error: nameOf(error) });
      return notSent(`${failed}: an unexpected error`);
    }
    const { message, retryAfterMs, permitInMs } = error;
    if (error.kind === 'access') log.error(ACCESS_REFUSED, { why: message });
    const result = { evidence: 'NOT_SENT', why: `${failed}: ${message}`, retryAfterMs, permitInMs } as const;
    return { ended: { result, sign: signOf(error) } };
  }
}

/**
 * Sends the request, unless it would be written later than the attempt may be old, or its intention could not be recorded. Only
 * the client knows whether it was written: no timer here may end it first, because all timers of a frozen process are due at once.
 */
async function send(partner: PartnerClient, deps: Attempt, input: PlaceOrderInput): Promise<Ended> {
  const items = input.items.map((item) => ({ id: item.productId, quantity: item.quantity }));
  const intent = createIntent(deps, { notAfter: notAfter(input), oneByOne: deps.oneByOne });
  const limits = { notAfter: notAfter(input), beforeWrite: intent.record };
  try {
    const { data } = await partner.placeOrder({ items, referenceId: input.referenceId }, limits);
    deps.purchases.noteOwner(data.id, input.referenceId);
    return { result: { evidence: 'PLACED', orderId: data.id }, sign: 'WORKS' };
  } catch (error) {
    if (!isPartnerError(error)) return nothing({ evidence: 'UNKNOWN', why: 'an unexpected error' });
    const { placement: evidence, retryAfterMs, permitInMs } = error;
    return { result: { evidence, why: withTraceId(error), retryAfterMs, permitInMs }, sign: signOf(error) };
  } finally {
    intent.close();
  }
}

/** What the partner is asked about when it has refused an order. */
function withTraceId({ placement, message, traceId }: PartnerError): string {
  const shown = presentableTraceId(traceId);
  const isRefusal = placement === 'ORDER_REFUSED' || placement === 'CONFLICT';
  return isRefusal && shown !== undefined ? `${message}, trace id ${shown}` : message;
}

/** Epoch ms: until when this attempt may write. */
function notAfter(input: PlaceOrderInput): number {
  return activityInfo().currentAttemptScheduledTimestampMs + input.maxAgeMs;
}

function paused(why: string): PlacementResult {
  return { evidence: 'PAUSED', why: `new placements are paused: ${why}` };
}

function nothing(result: PlacementResult): Ended {
  return { result, sign: 'NOTHING' };
}

function signOf(error: PartnerError): PlacementSign {
  return error.countsAgainstPartner ? 'FAILS' : 'NOTHING';
}

function logResult(result: PlacementResult): void {
  const { evidence } = result;
  if (evidence === 'PLACED') return log.info('order placed', { orderId: result.orderId });
  if (evidence === 'ACCESS_REFUSED') return log.error(ACCESS_REFUSED, { why: result.why });
  log.warn(PLACEMENT_ENDED[evidence], { evidence, why: result.why });
}

const PLACEMENT_ENDED: Record<Exclude<PlacementResult['evidence'], 'PLACED' | 'ACCESS_REFUSED'>, string> = {
  NOT_SENT: 'the order was not sent',
  PAUSED: 'the order was not sent: the circuit breaker is open',
  FOUND: 'the order exists already, so nothing was sent',
  OVER_MAX_DEBIT: 'the order would cost too much, so it was not sent',
  FENCED: 'the order was not sent: an earlier request may have placed it',
  ORDER_REFUSED: 'the partner refused the order',
  CONFLICT: 'the partner says that the order exists already',
  ANSWERED: 'the partner answered with an error, and may have placed the order all the same',
  UNKNOWN: 'no usable answer came, and the order may have been placed',
};
