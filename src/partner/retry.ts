import { setTimeout as sleep } from 'node:timers/promises';
import { isPartnerError } from './errors';

/** How often a read is tried, and the pause after the first try in ms, which doubles. The signal aborts it. */
export interface ReadRetry {
  tries: number;
  firstPauseMs: number;
  signal: AbortSignal;
}

/**
 * Repeats a read of the partner that may succeed later, a few times, at the pace that the partner asks for.
 *
 * @throws what the last try threw; the signal's reason when it is aborted.
 */
export async function withRetry<T>({ tries, firstPauseMs, signal }: ReadRetry, read: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    signal.throwIfAborted();
    try {
      return await read();
    } catch (error) {
      if (attempt >= tries || !isPartnerError(error) || !error.retryable) throw error;
      const pauseMs = Math.max(error.retryAfterMs ?? 0, firstPauseMs * 2 ** (attempt - 1));
      // An abort ends the pause by throwing; its reason is thrown above.
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }
}
