export interface PacerClock {
  /** Milliseconds that never jump, unlike the time of day: a clock set back must not stop all requests. */
  now(): number;
  sleep(ms: number): Promise<void>;
}

/**
 * Spaces what passes, in the order of arrival, to at most `perSecond` a second. It saves up nothing: a quiet minute does
 * not allow a burst. What the clock's `sleep` throws passes through.
 *
 * @returns waits for the next slot and resolves to true; where that comes in more than `withinMs`, it resolves to false at
 *   once and takes no slot.
 */
export function createPacer(perSecond: number | undefined, clock: PacerClock): (withinMs?: number) => Promise<boolean> {
  if (perSecond === undefined) return async () => true;
  const gap = 1000 / perSecond;
  let nextSlot = -Infinity;
  return async (withinMs = Infinity) => {
    const now = clock.now();
    const slot = Math.max(now, nextSlot);
    if (slot - now > withinMs) return false;
    nextSlot = slot + gap;
    if (slot > now) await clock.sleep(slot - now);
    return true;
  };
}
