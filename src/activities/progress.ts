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

/** Heartbeats by a timer: a slow partner is no dead worker. A heartbeat is also how a cancel arrives. */
export function openProgress(): Progress {
  let shown: { step: string } = { step: 'begun' };
  const beat = () => heartbeat(shown);
  const timer = setInterval(beat, heartbeatInterval);
  beat();
  return {
    show(step, counts = {}) {
      shown = { step, ...counts };
      beat();
    },
    signal: cancellationSignal(),
    close: () => clearInterval(timer),
  };
}
