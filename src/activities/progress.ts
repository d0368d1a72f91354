import { cancellationSignal, heartbeat } from '@temporalio/activity';
import { HEARTBEAT_INTERVAL_MS } from '../workflows/policies';

/** The progress of a long activity, shown in the Temporal UI. */
export interface Progress {
  show(step: string, counts?: Record<string, number>): void;
  /** Aborts when the workflow is cancelled or the worker shuts down. */
  signal: AbortSignal;
  close(): void;
}

/** More frequent updates are left to the timer, so that 100,000 findings don't cause 100,000 heartbeats. */
const MIN_INTERVAL_MS = 500;

/**
 * Sends heartbeats on a timer, so that a slow partner does not look like a dead worker. Heartbeats also deliver a
 * cancel request.
 */
export function openProgress(): Progress {
  let shown: { step: string } = { step: 'started' };
  let beatAt = -Infinity;
  const beat = () => {
    beatAt = performance.now();
    heartbeat(shown);
  };
  const timer = setInterval(beat, HEARTBEAT_INTERVAL_MS);
  beat();
  return {
    show(step, counts = {}) {
      shown = { step, ...counts };
      if (performance.now() - beatAt >= MIN_INTERVAL_MS) beat();
    },
    signal: cancellationSignal(),
    close: () => clearInterval(timer),
  };
}
