import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { DEFAULT_TASK_QUEUE, PURCHASE_WORKFLOW, purchaseWorkflowId, REJECTED_DUPLICATES } from '../contracts/names';
import type { PurchaseInput, PurchaseResult } from '../contracts/public-types';
import { statusCommand } from '../contracts/operator-commands';
import { PURCHASE_STATE, REFERENCE_ID } from '../contracts/search-attributes';
import { escapeMarkdown, joinDetails, summaryOf } from '../domain/text-format';
import {
  describeItems,
  hasSameItems,
  hasSameMaxDebit,
  itemsOnly,
  quoteValue,
  validatePurchase,
  validateReference,
} from '../domain/purchase-rules';
import {
  createPurchaseReader,
  diagnoseNoResponse,
  GRPC_STATUS,
  grpcErrorOf,
  retryServerTimeouts,
  rootCauseOf,
} from '../temporal/client';
import { responseTimeoutMs } from '../workflows/policies';
import {
  InvalidPurchaseError,
  NoResponseError,
  PurchaseDiffersError,
  PurchaseEndedWithoutResultError,
  PurchaseNotEndedError,
  PurchaseNotFoundError,
  ReferenceUnusableError,
  InvalidArgumentError,
  FulfilmentError,
} from './errors';
import { type Cancellation, cancelPurchase } from './cancel';
import { type ListFilter, listPurchases, type PurchaseList } from './list';
import { describeNamespace } from './describe-namespace';
import { type Redelivery, redeliver } from './redeliver';
import { parseDecision, type ResolveOptions, type Resolution, resolveHold } from './resolve';
import { type PurchaseStatus, statusOf } from './status';
import { namesOf, refuseUnknownFields, unknownFields } from './unknown-fields';

/** Node's longest timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The purchase that was started or found. */
export interface PurchaseStart {
  referenceId: string;
  /** Temporal's id of the purchase: `purchase-` and the reference. */
  workflowId: string;
  /** Temporal's id of the run. */
  runId: string;
  /** False if the purchase already existed. */
  started: boolean;
}

/**
 * Starts purchases and acts on them: shows their state, waits for their results, decides what happens to held ones,
 * repeats deliveries and cancels. It needs only a Temporal client, and never the partner's API key. All methods throw
 * NoResponseError if Temporal does not respond in time; `result` only with `timeoutMs`. An invalid reference throws
 * InvalidArgumentError, and in `purchase` InvalidPurchaseError.
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
   * Waits until a purchase ends, or until `timeoutMs` has passed. Without `timeoutMs`, it keeps waiting, even while
   * Temporal is unreachable. Every outcome is a result, even REJECTED and FAILED.
   *
   * @throws PurchaseNotFoundError
   * @throws PurchaseEndedWithoutResultError if the purchase was terminated or its input was invalid.
   * @throws PurchaseNotEndedError if it has not ended in time; NoResponseError if Temporal was unreachable.
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
  refuseUnknownFields(options, OPTION_FIELDS);
  const { taskQueue = DEFAULT_TASK_QUEUE, timeoutMs = responseTimeoutMs, fairnessKey } = options;
  checkTimeout(timeoutMs);
  if (typeof taskQueue !== 'string' || taskQueue === '') {
    throw new InvalidArgumentError(`taskQueue: expected a name, got ${quoteValue(taskQueue)}`);
  }
  /** All calls to Temporal share one deadline, unless a method sets an earlier one. */
  const inTime = async <T>(run: (deadline: number) => Promise<T>, words?: ErrorContext): Promise<T> => {
    const deadline = Date.now() + timeoutMs;
    const response = client.withDeadline(deadline, () => run(deadline));
    return translateErrors(client, response, words);
  };
  return {
    purchase: async (input) => {
      const requested = parsePurchase(input);
      const { referenceId } = requested;
      return inTime(() => startOrFind(client, { taskQueue, fairnessKey }, requested), { referenceId });
    },
    result: async (referenceId, options = {}) => {
      refuseUnknownFields(options, RESULT_FIELDS);
      const { timeoutMs: waitMs } = options;
      const wait = () => resultOf(client, requireReference(referenceId));
      if (waitMs !== undefined) checkTimeout(waitMs);
      const result = waitMs === undefined ? wait() : client.withDeadline(Date.now() + waitMs, wait);
      return translateErrors(client, result, { referenceId, isTimedWait: waitMs !== undefined });
    },
    status: (referenceId) => inTime(() => statusOf(client, requireReference(referenceId)), { referenceId }),
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
  if (ms > 0 && ms <= MAX_TIMER_MS) return;
  throw new InvalidArgumentError(`timeoutMs: expected 1 to ${MAX_TIMER_MS}, got ${ms}`);
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

async function startOrFind(
  client: Client,
  { taskQueue, fairnessKey }: StarterOptions & { taskQueue: string },
  requested: PurchaseInput,
): Promise<PurchaseStart> {
  const { referenceId, items } = requested;
  const workflowId = purchaseWorkflowId(referenceId);
  const options = {
    workflowId,
    taskQueue,
    args: [requested],
    workflowIdReusePolicy: 'REJECT_DUPLICATE' as const,
    memo: { [REJECTED_DUPLICATES]: true },
    staticSummary: summaryOf(escapeMarkdown(describeItems(items))),
    staticDetails: describeSale(requested),
    priority: fairnessKey === undefined ? undefined : { fairnessKey },
  };
  // Without them, the workflow writes them itself, which costs the server one more write.
  const typedSearchAttributes = [
    { key: REFERENCE_ID, value: referenceId },
    { key: PURCHASE_STATE, value: 'PLACING' },
  ];
  try {
    const handle = await client.workflow
      .start(PURCHASE_WORKFLOW, { ...options, typedSearchAttributes })
      .catch((error: unknown) => {
        // The namespace has no search attributes yet. No worker runs without them, so the purchase waits for a worker.
        if (!grpcErrorOf(error)?.details.includes('search attribute')) throw error;
        return client.workflow.start(PURCHASE_WORKFLOW, options);
      });
    return { referenceId, workflowId, runId: handle.firstExecutionRunId, started: true };
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    return { referenceId, workflowId, runId: await findExisting(client, requested), started: false };
  }
}

/** The fixed details of a purchase in the Temporal UI. The workflow updates its other details itself. */
function describeSale({ referenceId, items }: PurchaseInput): string {
  const lines = items.map(({ productId, quantity }) => `- ${quantity} × ${escapeMarkdown(summaryOf(productId))}`);
  const shown = lines.length > 20 ? [...lines.slice(0, 20), `- and ${lines.length - 20} more`] : lines;
  return joinDetails([
    `The purchase of sale **${escapeMarkdown(referenceId)}**:`,
    shown.join('\n'),
    'To see its current state:',
    ['```', statusCommand(referenceId), '```'].join('\n'),
  ]);
}

/**
 * @returns the run id of the existing purchase, if its items and `maxDebit` are the same.
 * @throws PurchaseDiffersError, ReferenceUnusableError
 */
async function findExisting(client: Client, requested: PurchaseInput): Promise<string> {
  const { referenceId } = requested;
  const purchases = createPurchaseReader(client);
  const { workflowId, runId } = await purchases.describe(referenceId);
  const before = await purchases.startInput({ workflowId, runId });
  const issues = validatePurchase(before);
  if (issues.length > 0) {
    throw new ReferenceUnusableError(referenceId, issues);
  }
  const known = before as PurchaseInput;
  const isSame = hasSameItems(known.items, requested.items) && hasSameMaxDebit(known.maxDebit, requested.maxDebit);
  const detailsOf = ({ items, maxDebit }: PurchaseInput) => ({ items, maxDebit });
  if (!isSame) throw new PurchaseDiffersError(referenceId, detailsOf(known), detailsOf(requested));
  return runId;
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
        throw new PurchaseEndedWithoutResultError(referenceId, now.status.name, reason);
      }
    }
  });
}

/** What the error of a call can say. */
interface ErrorContext {
  referenceId?: string;
  /** What to do if Temporal did not respond. */
  advice?: string;
  isSafeToRepeat?: boolean;
  /** The call waits until the purchase ends, for a limited time. */
  isTimedWait?: boolean;
}

const REPEAT = 'The request may still take effect; repeating it is safe.';
const LIST_FEWER = 'If it responds to other requests, list fewer purchases, with a shorter age or a lower limit.';

/** Turns Temporal's errors into the library's, if the library has an error that says more. */
async function translateErrors<T>(
  client: Client,
  response: Promise<T>,
  { referenceId, advice = REPEAT, isSafeToRepeat, isTimedWait }: ErrorContext = {},
): Promise<T> {
  try {
    return await response;
  } catch (error) {
    if (error instanceof FulfilmentError) throw error;
    if (error instanceof WorkflowNotFoundError && referenceId !== undefined) {
      throw new PurchaseNotFoundError(referenceId, describeNamespace(client));
    }
    const grpcError = grpcErrorOf(error);
    if (grpcError?.code !== GRPC_STATUS.UNAVAILABLE && grpcError?.code !== GRPC_STATUS.DEADLINE_EXCEEDED) throw error;
    const silence = await diagnoseNoResponse(client);
    if (silence === undefined && isTimedWait && referenceId !== undefined) throw new PurchaseNotEndedError(referenceId);
    const reason = silence === undefined ? '.' : `: ${silence}`;
    throw new NoResponseError(`Temporal (${describeNamespace(client)}) did not respond in time${reason} ${advice}`, {
      isSafeToRepeat,
      referenceId,
      cause: rootCauseOf(error as Error),
    });
  }
}
