import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { statusCommand } from '../contracts/operator-commands';
import { holdIn } from '../contracts/purchase';
import { RUNNING_STATES, STATE_MEANINGS } from '../domain/purchase-state';
import { workflowStateOf } from '../starter/current-state';
import { createPurchaseReader, epochMsOf } from '../temporal/client';
import { safeSentence } from './output';

const EVERY_MS = 500;
/** A running worker takes the next step sooner than this. */
const NO_WORKER_AFTER_MS = 10_000;

/**
 * Reports each new state of a running purchase until the signal is aborted. It asks only the server, so it works without
 * a worker. It may miss a state that lasts less than half a second.
 */
export async function watchStates(
  client: Client,
  referenceId: string,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const purchases = createPurchaseReader(client);
  let before = '';
  let isWarned = false;
  while (!signal.aborted) {
    // The wait for the result reports why Temporal does not respond.
    const purchase = await purchases.describe(referenceId).catch(() => undefined);
    const current = purchase && workflowStateOf(purchase);
    const state = RUNNING_STATES.find((one) => one === current && purchase?.status.name === 'RUNNING');
    const hold = state === 'HELD' ? holdIn(purchase?.memo) : undefined;
    const now = `${state}${hold?.id ?? ''}`;
    if (state !== undefined && now !== before && !signal.aborted) {
      const details = hold
        ? `${hold.reason}: ${safeSentence(hold.explanation)}. To decide: ${statusCommand(referenceId)}`
        : STATE_MEANINGS[state];
      say(`${new Date().toISOString().slice(11, 19)} UTC  ${state}: ${details}`);
      before = now;
    }
    const waitsSince = epochMsOf(purchase?.raw.pendingWorkflowTask?.scheduledTime);
    if (!isWarned && waitsSince > 0 && Date.now() - waitsSince > NO_WORKER_AFTER_MS) {
      say(`No worker has continued it for ${NO_WORKER_AFTER_MS / 1_000} s. Details: ${statusCommand(referenceId)}`);
      isWarned = true;
    }
    await sleep(EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}
