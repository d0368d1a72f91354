import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { purchaseWorkflowId } from '../../contracts/names';
import type { BatchedList, Listed } from './batched-list';
import { readRecordedOrderId } from './run-history';
import { withTimeout } from './with-timeout';

/** A search of the order history waits for this response, and must not time out if lists hang (30 s in the SDK). */
const RESPONSE_TIMEOUT_MS = 5_000;

/** Reads the runs of a reference from Temporal's lists, which lag. */
export function createListedRuns(client: Client, listBy: BatchedList) {
  const idOf = ({ workflowId }: WorkflowExecutionInfo) => workflowId;
  const [byWorkflow, alone] = [listBy('WorkflowId', idOf), listBy('WorkflowId', idOf, 1)];
  const list = async (workflowId: string): Promise<Listed['runs']> => {
    const listed = await byWorkflow.load(workflowId);
    return (listed.isComplete ? listed : await alone.load(workflowId)).runs;
  };
  /** The runs of a purchase, oldest first, including those of an earlier start. */
  const runs = async (referenceId: string): Promise<Listed['runs']> =>
    (await list(purchaseWorkflowId(referenceId))).toReversed();
  const runsInTime = async (referenceId: string): Promise<Listed['runs']> => {
    const listed = await withTimeout(RESPONSE_TIMEOUT_MS, runs(referenceId));
    if (!listed) throw new Error(`no list of runs within ${RESPONSE_TIMEOUT_MS / 1_000} s`);
    return listed;
  };

  return {
    runs,
    /**
     * Like `runs`, for a search of the order history.
     * @throws Error if they can't be read in time
     */
    runsInTime,
    /**
     * Whether lists show another execution with this workflow id; undefined if they don't even show this run yet.
     * @throws ServiceError
     */
    async hasOtherExecution(workflowId: string, runId: string): Promise<boolean | undefined> {
      const listed = await list(workflowId);
      if (listed.some((other) => other.runId !== runId)) return true;
      return listed.length > 0 ? false : undefined;
    },
    /**
     * The order that the newest other run of a purchase recorded, whatever reference the partner shows for it.
     * @param all from `runs` or `runsInTime`
     */
    async orderOfOtherRun(all: Listed['runs'], runId: string | undefined): Promise<string | undefined> {
      for (const run of all.toReversed()) {
        const orderId = run.runId === runId ? undefined : await readRecordedOrderId(client, run);
        if (orderId !== undefined) return orderId;
      }
      return undefined;
    },
  };
}
