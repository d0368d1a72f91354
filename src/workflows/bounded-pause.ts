import { workflowInfo } from '@temporalio/workflow';
import { pauseFloor } from './policies';

/**
 * The pause before the workflow does something again, long enough that its history stays bounded: `pauseFloor` in policies.ts.
 *
 * @param untilMs epoch ms: the repetition ends then, and the floor never delays beyond that.
 * @returns milliseconds.
 */
export function boundedPause(wantedMs: number, untilMs: number): number {
  const floor = Math.min(pauseFloor(workflowInfo().historyLength), untilMs - Date.now());
  return Math.max(wantedMs, floor);
}
