import { setTimeout as sleep } from 'node:timers/promises';
import { isPartnerError } from './errors';

const TRIES = 4;
const FIRST_PAUSE_MS = 500;

/**
 * Repeats a read of the partner that may succeed later, a few times, at the pace that the partner asks for.
 *
 * @throws what the last try threw; the signal's reason when it is aborted.
 */
export async function withRetry<T>(signal: AbortSignal, read: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    signal.throwIfAborted();
    try {
      return await read();
    } catch (error) {
      if (attempt >= TRIES || !isPartnerError(error) || !error.retryable) throw error;
      const pauseMs = Math.max(error.retryAfterMs ?? 0, FIRST_PAUSE_MS * 2 ** (attempt - 1));
      // An abort ends the pause by throwing; its reason is thrown above.
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }
}
