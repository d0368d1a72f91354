export interface PacerClock {
  /** Milliseconds that never jump, unlike the time of day: a clock set back must not stop all requests. */
  now(): number;
  sleep(ms: number): Promise<void>;
}

/**
 * Spaces what passes, in the order of arrival, to at most `perSecond` a second. It saves up nothing: a quiet minute does
 * not allow a burst. What the clock's `sleep` throws passes through.
 */
export function createPacer(perSecond: number | undefined, clock: PacerClock): () => Promise<void> {
  if (perSecond === undefined) return async () => {};
  const gap = 1000 / perSecond;
  let nextSlot = -Infinity;
  return async () => {
    const now = clock.now();
    const slot = Math.max(now, nextSlot);
    nextSlot = slot + gap;
    if (slot > now) await clock.sleep(slot - now);
  };
}
