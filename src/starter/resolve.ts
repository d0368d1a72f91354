import { randomUUID } from 'node:crypto';
import {
  type Client,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { purchaseWorkflowId, RESOLVE_UPDATE } from '../contracts/names';
import type { HoldDecision, Hold } from '../contracts/public-types';
import { holdIn } from '../contracts/purchase';
import { type Decision, DECISION_REFUSALS, type DecisionRefusal, DECISIONS } from '../domain/holds';
import { quoteValue, validateOrderId } from '../domain/purchase-rules';
import { toSingleLine } from '../domain/text-format';
import { createPurchaseReader, GRPC_STATUS, grpcErrorOf } from '../temporal/client';
import { workflowStateOf } from './current-state';
import { expectedOneOf } from './did-you-mean';
import { DecisionRefusedError, InvalidArgumentError, NoResponseError } from './errors';
import { checkFields } from './unknown-fields';

/** A decision on a held purchase. */
export type ResolveOptions = HoldDecision & {
  /** `hold.id` of the status: the decision applies only to this hold, so repeating the call never resolves a later one. */
  holdId?: string | undefined;
};

/** A decision that was accepted. */
export interface Resolution {
  referenceId: string;
  workflowId: string;
  hold: Hold;
  decision: Decision;
  orderId?: string | undefined;
}

/**
 * Checks a decision as a caller passes it.
 *
 * @throws InvalidArgumentError
 * @internal
 */
export function parseDecision(choice: unknown): ResolveOptions {
  if (typeof choice !== 'object' || choice === null) {
    throw new InvalidArgumentError(`expected a decision such as {decision: 'abandon'}, got ${quoteValue(choice)}`);
  }
  const { decision: raw, orderId, holdId } = choice as Partial<Record<'decision' | 'orderId' | 'holdId', unknown>>;
  const decision = DECISIONS.find((kind) => kind === raw);
  const hasOrderId = decision === 'order' || decision === undefined;
  checkFields(choice, hasOrderId ? ['decision', 'orderId', 'holdId'] : ['decision', 'holdId']);
  if (holdId !== undefined && typeof holdId !== 'string') {
    throw new InvalidArgumentError(`holdId: expected hold.id of the status, got ${quoteValue(holdId)}`);
  }
  if (decision === undefined) {
    throw new InvalidArgumentError(`decision: ${expectedOneOf(DECISIONS, raw)}`);
  }
  if (decision !== 'order') return { decision, holdId };
  const [issue] = validateOrderId(orderId);
  if (issue) throw new InvalidArgumentError(`orderId: ${issue}, got ${quoteValue(orderId)}`);
  return { decision, orderId: orderId as string, holdId };
}

/**
 * @throws DecisionRefusedError, NoResponseError, WorkflowNotFoundError
 * @internal
 */
export async function resolveHold(
  client: Client,
  referenceId: string,
  { holdId, ...choice }: ResolveOptions,
): Promise<Resolution> {
  const handle = client.workflow.getHandle(purchaseWorkflowId(referenceId));
  const hold = await openHold(client, referenceId, holdId);
  if (holdId !== undefined && holdId !== hold.id) {
    throw new DecisionRefusedError(
      referenceId,
      'OTHER_HOLD',
      `hold ${toSingleLine(holdId, 100)} is no longer open`,
      hold,
    );
  }
  if (!hold.decisions.includes(choice.decision)) {
    throw new DecisionRefusedError(
      referenceId,
      'NOT_POSSIBLE',
      `${choice.decision} is not possible for ${hold.reason}`,
      hold,
    );
  }
  const decision = { holdId: hold.id, ...choice };
  // The server returns the old result for a known update id, so this one must be new.
  const updateId = randomUUID();
  const send = () => handle.executeUpdate(RESOLVE_UPDATE, { args: [decision], updateId });
  const sendWithOneRetry = () => send().catch((error: unknown) => sendAgain(error, send));
  await sendWithOneRetry().catch((error: unknown) => {
    throw toDecisionError(error, referenceId, holdId !== undefined);
  });
  return { referenceId, workflowId: handle.workflowId, hold, ...choice };
}

async function openHold(client: Client, referenceId: string, holdId?: string): Promise<Hold> {
  const description = await createPurchaseReader(client).describe(referenceId);
  const { status, memo } = description;
  const state = workflowStateOf(description);
  if (status.name !== 'RUNNING') {
    const end = state === 'ENDED_WITHOUT_RESULT' ? status.name : state;
    throw new DecisionRefusedError(referenceId, 'ENDED', `the purchase has ended as ${end}`);
  }
  const hold = holdIn(memo);
  if (!hold) {
    const continues = state === 'STARTED' ? 'waits for a worker' : 'continues by itself';
    const decided = holdId === undefined ? '' : `; hold ${toSingleLine(holdId, 100)} is not open`;
    throw new DecisionRefusedError(referenceId, 'NOT_HELD', `the purchase is not held and ${continues}${decided}`);
  }
  return hold;
}

function toDecisionError(error: unknown, referenceId: string, isSafeToRepeat: boolean): unknown {
  if (error instanceof WorkflowUpdateFailedError)
    return new DecisionRefusedError(referenceId, refusalOf(error.cause), error.cause?.message ?? error.message);
  if (error instanceof WorkflowNotFoundError)
    return new DecisionRefusedError(referenceId, 'ENDED', 'the purchase ended a moment ago');
  if (!(error instanceof WorkflowUpdateRPCTimeoutOrCancelledError)) return error;
  return new NoResponseError(
    `No worker processed the decision on ${referenceId} in time. Is a worker running? ` +
      `The decision may still take effect. ${isSafeToRepeat ? 'Repeating it is safe.' : 'Read the status before you decide again.'}`,
    { isSafeToRepeat, referenceId },
  );
}

/** The failure may belong to another copy of Temporal's package. Without a known refusal, its validator refused it. */
function refusalOf(cause: unknown): DecisionRefusal {
  const { details } = (cause ?? {}) as { details?: unknown };
  const refusal: unknown = Array.isArray(details) ? details[0] : undefined;
  return DECISION_REFUSALS.find((one) => one === refusal) ?? 'NOT_POSSIBLE';
}

/** The server drops an update if another event reaches the workflow first. Sending a decision twice is safe. */
function sendAgain(error: unknown, send: () => Promise<unknown>): Promise<unknown> {
  if (grpcErrorOf(error)?.code === GRPC_STATUS.FAILED_PRECONDITION) return send();
  throw error;
}
