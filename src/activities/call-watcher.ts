import { performance } from 'node:perf_hooks';
import { log } from '@temporalio/activity';
import { keepWatching } from '../temporal/client';
import { watchInterval } from '../workflows/policies';
import type { ActivityDependencies } from './dependencies';
import { nameOf } from './failures';

/** Makes sure that the watcher of this task queue runs. It never fails: who is not watched polls all the same, only more rarely. */
export type CallWatcher = (taskQueue: string) => Promise<void>;

/** @returns one for all activities of a process, which calls at most once an interval. */
export function createCallWatcher({
  client,
  settings,
}: Pick<ActivityDependencies, 'client' | 'settings'>): CallWatcher {
  let calledAt = -Infinity;
  return async (taskQueue) => {
    const now = performance.now();
    if (now - calledAt < watchInterval(settings)) return;
    calledAt = now;
    try {
      await keepWatching(client, taskQueue);
    } catch (error) {
      calledAt = -Infinity;
      log.warn('the watcher could not be called', { why: nameOf(error) });
    }
  };
}
