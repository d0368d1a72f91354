import {
  continueAsNew,
  defineSignal,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  setWorkflowOptions,
} from '@temporalio/workflow';
import { KEEP_WATCHING_SIGNAL } from '../contracts/names';
import type { WatchActivities } from '../contracts/watch';
import { isEndOfWatch } from './activity-result-guards';
import { lastingWorkflowOptions } from './lasting-workflow';
import { watchOptions } from './policies';

/** Sent by a worker whose purchase has begun to wait. */
const keepWatchingSignal = defineSignal(KEEP_WATCHING_SIGNAL);

/**
 * Has the order history read for all purchases of its task queue that wait for a change of their order, as long as there are
 * any. One for each task queue: its id says so. It remembers nothing; whoever stops it costs the purchases time and nothing
 * else, and the next poll of one of them starts it again.
 */
export async function watchWorkflow(): Promise<void> {
  let called = false;
  setHandler(keepWatchingSignal, () => {
    called = true;
  });
  setCurrentDetails(
    '**WATCHING** the order history for all purchases that wait for a change of their order. How far it is stands in the heartbeat of ' +
      'the pending activity. It ends by itself when none waits; to end it at any time harms no purchase.',
  );
  const { watchOrders } = proxyActivities<WatchActivities>(watchOptions);
  const summary = 'the order history, for all purchases that wait';
  const result: unknown = await watchOrders.executeWithOptions({ summary }, []);
  if (called || !isEndOfWatch(result)) await continueAsNew<typeof watchWorkflow>();
}

setWorkflowOptions(lastingWorkflowOptions, watchWorkflow);
