import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { diagnoseNoResponse, GRPC_STATUS, grpcErrorOf, rootCauseOf } from '../temporal/client';
import { describeNamespace } from './describe-namespace';
import { FulfilmentError, NoResponseError, PurchaseNotEndedError, PurchaseNotFoundError } from './errors';

/**
 * What the error of a call can say.
 *
 * @internal
 */
export interface ErrorContext {
  referenceId?: string;
  /** What to do if Temporal did not respond. */
  advice?: string;
  isSafeToRepeat?: boolean;
  /** The call waits until the purchase ends, for a limited time. */
  isTimedWait?: boolean;
  /** Epoch ms: when the call's time is up. */
  deadline?: number;
}

/** In ms. The server may cancel a call this long before the client notices that its time is up. */
const CLOCK_SLACK_MS = 50;

export const REPEAT = 'The request may still take effect; repeating it is safe.';
export const REPEAT_READ = 'Nothing was changed; repeat the call.';

/**
 * Turns Temporal's errors into the library's, if the library has an error that says more.
 *
 * @internal
 */
export async function translateErrors<T>(
  client: Client,
  response: Promise<T>,
  { referenceId, advice = REPEAT, isSafeToRepeat, isTimedWait, deadline = Infinity }: ErrorContext = {},
): Promise<T> {
  try {
    return await response;
  } catch (error) {
    if (error instanceof FulfilmentError) throw error;
    if (error instanceof WorkflowNotFoundError && referenceId !== undefined) {
      throw new PurchaseNotFoundError(referenceId, describeNamespace(client));
    }
    const code = grpcErrorOf(error)?.code;
    const isOutOfTime = code === GRPC_STATUS.CANCELLED && Date.now() > deadline - CLOCK_SLACK_MS;
    if (code !== GRPC_STATUS.UNAVAILABLE && code !== GRPC_STATUS.DEADLINE_EXCEEDED && !isOutOfTime) throw error;
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
