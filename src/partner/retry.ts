import { setTimeout as sleep } from 'node:timers/promises';
import { isPartnerError } from './errors';

/** How often a read is tried, and the pause after the first try in ms, which doubles. The signal ends it. */
export interface ReadRetry {
  tries: number;
  firstPauseMs: number;
  /** Whether a pause that the partner asks for may be made. If not, the read has failed. */
  mayPause: (askedMs: number) => boolean;
  signal: AbortSignal;
}

/** Repeats a read that may succeed later. @throws what the last try threw; the signal's reason when it is aborted */
export async function withRetry<T>(retry: ReadRetry, read: () => Promise<T>): Promise<T> {
  const { tries, firstPauseMs, mayPause, signal } = retry;
  for (let attempt = 1; ; attempt++) {
    signal.throwIfAborted();
    try {
      return await read();
    } catch (error) {
      if (attempt >= tries || !isPartnerError(error) || !error.retryable) throw error;
      const [ownMs, askedMs] = [firstPauseMs * 2 ** (attempt - 1), error.retryAfterMs ?? 0];
      if (askedMs > ownMs && !mayPause(askedMs)) throw error;
      // An abort ends the pause by throwing; its reason is thrown above.
      await sleep(Math.max(askedMs, ownMs), undefined, { signal }).catch(() => undefined);
    }
  }
}

/** Allows pauses of at most `longestMs` each, and `togetherMs` for all of them, also those of reads at the same time. */
export function limitPauses({ longestMs, togetherMs }: { longestMs: number; togetherMs: number }) {
  let leftMs = togetherMs;
  return (askedMs: number): boolean => {
    if (askedMs > Math.min(longestMs, leftMs)) return false;
    leftMs -= askedMs;
    return true;
  };
}
