import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { type EarlierEvent, fingerprintsOf } from '../../contracts/checkout-events';
import { purchaseWorkflowId } from '../../contracts/names';
import { REFERENCE_ID } from '../../contracts/search-attributes';
import { sentEvents } from './history';

/**
 * Finds the events with keys that other runs of a purchase, and deliveries after its end, handed to the checkout or tried
 * to. The first run is found without a list, which lags; later ones are minutes old before anybody resets again.
 *
 * @throws Error when Temporal can't be asked: not knowing what was handed over is no ground to hand it over.
 */
export function earlierEvents(client: Client) {
  return async (referenceId: string, ownRunId: string, firstRunId: string): Promise<EarlierEvent[]> => {
    const runs = new Map([[firstRunId, purchaseWorkflowId(referenceId)]]);
    for await (const run of client.workflow.list({ query: `${REFERENCE_ID.name} = '${referenceId}'` })) {
      runs.set(run.runId, run.workflowId);
    }
    runs.delete(ownRunId);

    const found = new Map<string, EarlierEvent>();
    for (const [runId, workflowId] of runs) {
      for (const { request, receipt } of await sentEvents(client, { workflowId, runId }).catch(noneIfGone)) {
        const keys = fingerprintsOf(request);
        if (keys.length === 0 || !('lines' in request)) continue;
        const name = JSON.stringify([request.type, request.orderId, keys.toSorted()]);
        const eventId = receipt?.eventId ?? found.get(name)?.eventId;
        found.set(name, { request, ...(eventId !== undefined && { eventId }) });
      }
    }
    return [...found.values()].toSorted((one, other) => (one.request.at < other.request.at ? -1 : 1));
  };
}

/** A run may be older than what the server keeps. */
function noneIfGone(error: unknown): [] {
  if (error instanceof WorkflowNotFoundError) return [];
  throw error;
}
