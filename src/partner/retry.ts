import { setTimeout as sleep } from 'node:timers/promises';
import { isPartnerError } from './errors';

/** How often a read is tried, and the pause after the first try in ms, which doubles. The signal aborts it. */
export interface ReadRetry {
  tries: number;
  firstPauseMs: number;
  /** Whether so many ms may be waited because the partner asks for it. If not, the read has failed. */
  mayPause: (askedMs: number) => boolean;
  signal: AbortSignal;
}

/**
 * Repeats a read of the partner that may succeed later, a few times, at the pace that the partner asks for.
 *
 * @throws what the last try threw; the signal's reason when it is aborted.
 */
export async function withRetry<T>(
  { tries, firstPauseMs, mayPause, signal }: ReadRetry,
  read: () => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    signal.throwIfAborted();
    try {
      return await read();
    } catch (error) {
      if (attempt >= tries || !isPartnerError(error) || !error.retryable) throw error;
      const [ownMs, askedMs] = [firstPauseMs * 2 ** (attempt - 1), error.retryAfterMs ?? 0];
      if (askedMs > ownMs && !mayPause(askedMs)) throw error;
      const pauseMs = Math.max(askedMs, ownMs);
      // An abort ends the pause by throwing; its reason is thrown above.
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }
}

/**
 * Grants reads the pauses that the partner asks for.
 *
 * @param longestMs of one pause.
 * @param togetherMs of all pauses together, those of reads that run at the same time added up.
 */
export function limitPauses({ longestMs, togetherMs }: { longestMs: number; togetherMs: number }) {
  let leftMs = togetherMs;
  return (askedMs: number): boolean => {
    if (askedMs > Math.min(longestMs, leftMs)) return false;
    leftMs -= askedMs;
    return true;
  };
}
