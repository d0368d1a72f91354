import { randomUUID } from 'node:crypto';
import {
  type Client,
  type WorkflowHandle,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { purchaseWorkflowId, RESOLVE_UPDATE } from '../contracts/names';
import { statusCommand } from '../contracts/operator-commands';
import type { DecisionChoice, HoldNotice } from '../contracts/public-types';
import { holdIn } from '../contracts/purchase';
import { validateOrderId } from '../domain/purchase-rules';
import { GRPC_STATUS, grpcErrorOf } from '../temporal/client';
import { DecisionRefusedError, InvalidArgumentError, NoResponseError } from './errors';
import { refuseUnknownFields } from './unknown-fields';

/** A decision that was accepted. */
export interface Resolution {
  referenceId: string;
  workflowId: string;
  hold: HoldNotice;
  decision: DecisionChoice['decision'];
  orderId?: string | undefined;
}

/** Implements `resolve` of the library. @throws DecisionRefusedError, NoResponseError, WorkflowNotFoundError */
export async function resolveHold(client: Client, referenceId: string, choice: DecisionChoice): Promise<Resolution> {
  const [issue] = choice.decision === 'order' ? validateOrderId(choice.orderId) : [];
  if (issue) throw new InvalidArgumentError(`orderId: ${issue}`);
  refuseUnknownFields(choice, choice.decision === 'order' ? ['decision', 'orderId'] : ['decision']);
  const handle = client.workflow.getHandle(purchaseWorkflowId(referenceId));
  const hold = await openHold(handle, referenceId);
  if (!hold.decisions.includes(choice.decision)) {
    throw new DecisionRefusedError(referenceId, `${choice.decision} is not possible for ${hold.reason}`, hold);
  }
  const decision = { hold: hold.id, ...choice };
  // The server answers a known update id with the old answer, so nobody may know this one before.
  const updateId = randomUUID();
  const send = () => handle.executeUpdate(RESOLVE_UPDATE, { args: [decision], updateId });
  const sendWithOneRetry = () => send().catch((error: unknown) => sendAgain(error, send));
  await sendWithOneRetry().catch((error: unknown) => {
    throw toDecisionError(error, referenceId);
  });
  return { referenceId, workflowId: handle.workflowId, hold, ...choice };
}

async function openHold(handle: WorkflowHandle, referenceId: string): Promise<HoldNotice> {
  const { status, memo } = await handle.describe();
  if (status.name !== 'RUNNING') {
    throw new DecisionRefusedError(referenceId, `the purchase has ended (${status.name})`);
  }
  const hold = holdIn(memo);
  if (!hold) throw new DecisionRefusedError(referenceId, 'the purchase is not held; it continues by itself');
  return hold;
}

function toDecisionError(error: unknown, referenceId: string): unknown {
  if (error instanceof WorkflowUpdateFailedError)
    return new DecisionRefusedError(referenceId, error.cause?.message ?? error.message);
  if (error instanceof WorkflowNotFoundError)
    return new DecisionRefusedError(referenceId, 'the purchase ended a moment ago');
  if (!(error instanceof WorkflowUpdateRPCTimeoutOrCancelledError)) return error;
  return new NoResponseError(
    `No worker processed the decision on ${referenceId} in time. Is a worker running? ` +
      `The decision may still take effect. Check before you decide again: ${statusCommand(referenceId)}`,
  );
}

/** The server drops an update if another event overtakes its workflow task. Sending a decision twice is safe. */
function sendAgain(error: unknown, send: () => Promise<unknown>): Promise<unknown> {
  if (grpcErrorOf(error)?.code === GRPC_STATUS.FAILED_PRECONDITION) return send();
  throw error;
}
