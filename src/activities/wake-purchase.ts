import { log } from '@temporalio/activity';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { nameOf } from './failures';

/** Signals a purchase that a list showed to be waiting. It never fails. @returns whether the purchase has the signal */
export async function wakePurchase(
  client: Client,
  workflowId: string,
  signal: string,
  ...args: unknown[]
): Promise<boolean> {
  try {
    await client.workflow.getHandle(workflowId).signal(signal, ...args);
    return true;
  } catch (error) {
    // One that is not there has just ended; lists lag.
    if (!(error instanceof WorkflowNotFoundError)) {
      log.warn('a purchase could not be woken', { workflowId, why: nameOf(error) });
    }
    return false;
  }
}
