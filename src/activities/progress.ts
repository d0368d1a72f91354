import { cancellationSignal, heartbeat } from '@temporalio/activity';
import { heartbeatInterval } from '../workflows/policies';

/** What the Temporal UI shows while an activity runs that takes long. */
export interface Progress {
  /** What is being done now, with counts. */
  show(step: string, counts?: Record<string, number>): void;
  /** Aborts when the run is cancelled or its worker shuts down. */
  signal: AbortSignal;
  close(): void;
}

/** What comes faster is left for the timer: a hundred thousand findings are not a hundred thousand heartbeats. */
const LEAST_BETWEEN_MS = 500;

/** Heartbeats by a timer: a slow partner is no dead worker. A heartbeat is also how a cancel arrives. */
export function openProgress(): Progress {
  let shown: { step: string } = { step: 'begun' };
  let beatAt = -Infinity;
  const beat = () => {
    beatAt = performance.now();
    heartbeat(shown);
  };
  const timer = setInterval(beat, heartbeatInterval);
  beat();
  return {
    show(step, counts = {}) {
      shown = { step, ...counts };
      if (performance.now() - beatAt >= LEAST_BETWEEN_MS) beat();
    },
    signal: cancellationSignal(),
    close: () => clearInterval(timer),
  };
}
