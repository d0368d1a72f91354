import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { arrayFromPayloads, type Payload } from '@temporalio/common';
import type { PlaceOrderInput } from '../../contracts/activities';
import { toleratingUndecodable } from '../../contracts/payload-converter';
import { GRPC_STATUS, grpcErrorOf } from './grpc-error';

/** One execution of a workflow: a reset ends a run and begins another of the same workflow. */
export interface Run {
  workflowId: string;
  runId: string;
}

/** Reads a workflow's argument from the first event of its history, whoever started it. @throws WorkflowNotFoundError */
export async function readStartInput(client: Client, run: Run): Promise<unknown> {
  const { workflowId, runId } = run;
  const first = { namespace: client.options.namespace, execution: { workflowId, runId }, maximumPageSize: 1 };
  const { history } = await client.workflowService
    .getWorkflowExecutionHistory(first)
    .catch((error: unknown) => refuse(error, run));
  const started = history?.events?.[0]?.workflowExecutionStartedEventAttributes;
  return firstOf(client, started?.input?.payloads);
}

/** The secret that a run of a purchase recorded as it placed its order; undefined if the server no longer keeps the run, or it never did. */
export async function readRecordedSecretId(client: Client, { workflowId, runId }: Run): Promise<string | undefined> {
  const history = await client.workflow
    .getHandle(workflowId, runId)
    .fetchHistory()
    .catch((error: unknown) => {
      if (grpcErrorOf(error)?.code === GRPC_STATUS.NOT_FOUND) return undefined;
      throw error;
    });
  for (const { activityTaskScheduledEventAttributes: scheduled } of history?.events ?? []) {
    if (scheduled?.activityType?.name !== 'placeOrder') continue;
    const input = (await firstOf(client, scheduled.input?.payloads)) as Partial<PlaceOrderInput> | undefined;
    if (typeof input?.fingerprintSecretId === 'string') return input.fingerprintSecretId;
  }
  return undefined;
}

/** As the SDK does elsewhere: for a history it passes on what the server says. */
function refuse(error: unknown, { workflowId, runId }: Run): never {
  const said = grpcErrorOf(error);
  if (said?.code === GRPC_STATUS.NOT_FOUND) throw new WorkflowNotFoundError(said.details, workflowId, runId);
  throw error;
}

async function firstOf(client: Client, payloads: Payload[] | null | undefined): Promise<unknown> {
  const { payloadConverter, payloadCodecs } = client.options.loadedDataConverter;
  let decoded = payloads ?? [];
  for (const codec of payloadCodecs.toReversed()) decoded = await codec.decode(decoded);
  return arrayFromPayloads(toleratingUndecodable(payloadConverter), decoded)[0];
}
