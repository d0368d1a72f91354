import { type Client, WorkflowFailedError } from '@temporalio/client';
import { FAILURE } from '../contracts/failures';
import { DEFAULT_TASK_QUEUE } from '../contracts/names';
import type { PurchaseInput, PurchaseResult } from '../contracts/public-types';
import { itemsOnly, quoteValue, validatePurchase, validateReference } from '../domain/purchase-rules';
import { createPurchaseReader, retryServerTimeouts } from '../temporal/client';
import { RESPONSE_TIMEOUT_MS } from '../workflows/policies';
import { type Cancellation, cancelPurchase } from './cancel';
import { InvalidArgumentError, InvalidPurchaseError, PurchaseEndedWithoutResultError } from './errors';
import { type ListFilter, listPurchases, type PurchaseList } from './list';
import { type Redelivery, redeliver } from './redeliver';
import { parseDecision, type ResolveOptions, type Resolution, resolveHold } from './resolve';
import { type PurchaseStart, startOrFind } from './start-purchase';
import { type PurchaseStatus, statusOf } from './status';
import { type ErrorContext, REPEAT, REPEAT_READ, translateErrors } from './translate-errors';
import { namesOf, checkFields, unknownFields } from './unknown-fields';

const LIST_FEWER = 'If it responds to other requests, list fewer purchases, with a shorter age or a lower limit.';
/** Node's longest timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** Temporal's limit. */
const MAX_FAIRNESS_KEY_BYTES = 64;

/**
 * Starts purchases and acts on them: shows their state, waits for their results, decides what happens to held ones,
 * repeats deliveries and cancels. It needs only a Temporal client, and never the partner's API key. All methods throw
 * NoResponseError if Temporal does not respond in time. An invalid reference throws InvalidArgumentError, and in
 * `purchase` InvalidPurchaseError.
 */
export interface Starter {
  /**
   * Starts the purchase of a sale. Reusing a reference returns the existing purchase, even after it has ended.
   *
   * @throws InvalidPurchaseError if the input is invalid or has an unknown field. Temporal is not contacted.
   * @throws PurchaseDiffersError if the reference already has a purchase with different items or `maxDebit`.
   * @throws ReferenceUnusableError if the reference was started with invalid input. Use a new one.
   * @throws NoResponseError if Temporal did not respond in time. Repeat the call.
   *
   * @example
   * await starter.purchase({ referenceId: 'SALE-1', items: [{ productId: 'P-1', quantity: 2 }] });
   */
  purchase(input: PurchaseInput): Promise<PurchaseStart>;
  /**
   * Waits until a purchase ends, or until `timeoutMs` has passed. Every outcome is a result, even REJECTED and FAILED.
   *
   * @throws PurchaseNotFoundError
   * @throws PurchaseEndedWithoutResultError if the purchase was terminated or its input was invalid.
   * @throws PurchaseNotEndedError if it has not ended in time.
   * @throws NoResponseError if Temporal was unreachable for about 20 s. Call it again to keep waiting.
   */
  result(referenceId: string, options?: ResultOptions): Promise<PurchaseResult>;
  /**
   * Returns the current state of a purchase. Works without a running worker.
   *
   * @throws PurchaseNotFoundError, NoResponseError
   */
  status(referenceId: string): Promise<PurchaseStatus>;
  /**
   * Decides how a held purchase continues. Needs a running worker. Safe to repeat with `holdId`: if the first
   * call succeeded, the repeat throws DecisionRefusedError. Without `holdId`, a decision applies to the hold that is open
   * then, so after `NoResponseError`, read the status first.
   *
   * @throws InvalidArgumentError, PurchaseNotFoundError, DecisionRefusedError, NoResponseError
   *
   * @example
   * const { hold } = await starter.status('SALE-1');
   * if (hold?.decisions.includes('abandon'))
   *   await starter.resolve('SALE-1', { decision: 'abandon', holdId: hold.id });
   */
  resolve(referenceId: string, options: ResolveOptions): Promise<Resolution>;
  /**
   * Delivers an ended purchase again, with the keys that its order has now. Needs a running worker. Safe to repeat,
   * because every key keeps its id.
   *
   * @throws PurchaseNotFoundError, NothingToRedeliverError, RedeliveryFailedError, NoResponseError
   */
  redeliver(referenceId: string): Promise<Redelivery>;
  /**
   * Lists the purchases in a state, by default those that need attention. The list lags by about a second. Works
   * without a running worker.
   *
   * @throws InvalidArgumentError, NoResponseError
   */
  list(filter?: ListFilter): Promise<PurchaseList>;
  /**
   * Requests the cancellation of a purchase. If an order may already exist, it is completed instead. Safe to repeat. If
   * no worker is running, the request takes effect when one starts.
   *
   * @throws PurchaseNotFoundError, NothingToCancelError, NoResponseError
   */
  cancel(referenceId: string): Promise<Cancellation>;
}

export interface ResultOptions {
  /** How long to wait, in ms. Default: until the purchase ends. */
  timeoutMs?: number | undefined;
}

export interface StarterOptions {
  /**
   * The worker's `TEMPORAL_TASK_QUEUE`. Default `fulfilment`. No worker sees a purchase on the wrong queue: it stays
   * `STARTED`, and `status` shows `waitsForWorkerSince`.
   */
  taskQueue?: string | undefined;
  /**
   * How long a method waits for Temporal, and for a worker if it needs one, in ms. Default 30,000. `result` has an
   * option of its own.
   */
  timeoutMs?: number | undefined;
  /**
   * Identifies this checkout, in at most 64 bytes, if several checkouts share a namespace. A Temporal server with
   * fairness turned on then serves the checkouts in turn: a thousand purchases of one checkout don't delay another.
   */
  fairnessKey?: string | undefined;
}

const RESULT_FIELDS = namesOf<ResultOptions>({ timeoutMs: true });
const OPTION_FIELDS = namesOf<StarterOptions>({ taskQueue: true, timeoutMs: true, fairnessKey: true });

/**
 * Creates a `Starter` for a checkout.
 *
 * @param client a Temporal client for the worker's namespace.
 * @throws InvalidArgumentError
 *
 * @example
 * const starter = createStarter(new Client({ connection: Connection.lazy({ address: 'localhost:7233' }) }));
 */
export function createStarter(client: Client, options: StarterOptions = {}): Starter {
  checkClient(client);
  checkFields(options, OPTION_FIELDS);
  const { taskQueue = DEFAULT_TASK_QUEUE, timeoutMs = RESPONSE_TIMEOUT_MS, fairnessKey } = options;
  checkTimeout(timeoutMs);
  if (typeof taskQueue !== 'string' || taskQueue === '') {
    throw new InvalidArgumentError(`taskQueue: expected a name, got ${quoteValue(taskQueue)}`);
  }
  checkFairnessKey(fairnessKey);
  /** All calls to Temporal share one deadline, unless a method sets an earlier one. */
  const inTime = async <T>(run: (deadline: number) => Promise<T>, words?: ErrorContext): Promise<T> => {
    const deadline = Date.now() + timeoutMs;
    const response = client.withDeadline(deadline, () => run(deadline));
    return translateErrors(client, response, { ...words, deadline });
  };
  return {
    purchase: async (input) => {
      const requested = parsePurchase(input);
      const { referenceId } = requested;
      return inTime(() => startOrFind(client, { taskQueue, fairnessKey }, requested), { referenceId });
    },
    result: async (referenceId, options = {}) => {
      checkFields(options, RESULT_FIELDS);
      const { timeoutMs: waitMs } = options;
      const wait = () => resultOf(client, requireReference(referenceId));
      if (waitMs !== undefined) checkTimeout(waitMs);
      const deadline = waitMs === undefined ? Infinity : Date.now() + waitMs;
      const result = waitMs === undefined ? wait() : client.withDeadline(deadline, wait);
      return translateErrors(client, result, {
        referenceId,
        advice: REPEAT_READ,
        isTimedWait: waitMs !== undefined,
        deadline,
      });
    },
    status: (referenceId) =>
      inTime(() => statusOf(client, requireReference(referenceId)), { referenceId, advice: REPEAT_READ }),
    resolve: async (referenceId, options) => {
      const [reference, decision] = [requireReference(referenceId), parseDecision(options)];
      const isSafeToRepeat = decision.holdId !== undefined;
      const advice = isSafeToRepeat ? REPEAT : 'It may still be decided: read the status before you decide again.';
      return inTime(() => resolveHold(client, reference, decision), { referenceId, advice, isSafeToRepeat });
    },
    redeliver: (referenceId) =>
      inTime((until) => redeliver(client, requireReference(referenceId), until), { referenceId }),
    list: (filter = {}) => inTime(() => listPurchases(client, filter), { advice: LIST_FEWER }),
    cancel: (referenceId) => inTime(() => cancelPurchase(client, requireReference(referenceId)), { referenceId }),
  };
}

function checkTimeout(ms: number): void {
  if (Number.isSafeInteger(ms) && ms > 0 && ms <= MAX_TIMER_MS) return;
  throw new InvalidArgumentError(`timeoutMs: expected a whole number from 1 to ${MAX_TIMER_MS}, got ${quoteValue(ms)}`);
}

function checkFairnessKey(key: unknown): void {
  if (key === undefined || (typeof key === 'string' && Buffer.byteLength(key) <= MAX_FAIRNESS_KEY_BYTES)) return;
  const expected = `a string of at most ${MAX_FAIRNESS_KEY_BYTES} bytes`;
  throw new InvalidArgumentError(`fairnessKey: expected ${expected}, got ${quoteValue(key)}`);
}

/** A `Client` of another copy of Temporal's package is fine, so this looks only at what is used. */
function checkClient(client: unknown): void {
  const { workflow, withDeadline, options } = (client ?? {}) as { [Field in keyof Client]?: Partial<Client[Field]> };
  const isClient = workflow?.getHandle && withDeadline && typeof options?.namespace === 'string';
  if (isClient) return;
  const { name = '' } = typeof client === 'object' ? ((client as object | null)?.constructor ?? {}) : {};
  throw new InvalidArgumentError(
    `client: expected a Client of @temporalio/client, got ${/^(Object)?$/.test(name) ? quoteValue(client) : `a ${name}`}. To create it: ` +
      "new Client({connection: Connection.lazy({address: 'localhost:7233'}), namespace: 'default'})",
  );
}

/**
 * @returns only the known fields of the input.
 * @throws InvalidPurchaseError
 */
function parsePurchase(input: PurchaseInput): PurchaseInput {
  const issues = [...validatePurchase(input), ...unknownFields(input)];
  if (issues.length > 0) throw new InvalidPurchaseError(issues);
  const { referenceId, items, maxDebit } = input;
  return { referenceId, items: itemsOnly(items), maxDebit };
}

/** @throws InvalidArgumentError if no purchase can have this reference. */
function requireReference(referenceId: string): string {
  const [issue] = validateReference(referenceId);
  if (issue) throw new InvalidArgumentError(issue);
  return referenceId;
}

function resultOf(client: Client, referenceId: string): Promise<PurchaseResult> {
  const purchases = createPurchaseReader(client);
  return retryServerTimeouts(async () => {
    for (;;) {
      const { workflowId, runId } = await purchases.describe(referenceId);
      try {
        return (await client.workflow.getHandle(workflowId, runId).result()) as PurchaseResult;
      } catch (error) {
        if (!(error instanceof WorkflowFailedError)) throw error;
        const now = await purchases.describe(referenceId);
        // A reset ends one run and starts another, so the purchase continues.
        if (now.runId !== runId) continue;
        const reason = error.cause?.message;
        const isInvalidInput = (error.cause as { type?: unknown } | undefined)?.type === FAILURE.invalidPurchase;
        throw new PurchaseEndedWithoutResultError(referenceId, now.status.name, reason, isInvalidInput);
      }
    }
  });
}
