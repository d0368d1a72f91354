import { setTimeout as sleep } from 'node:timers/promises';
import { isPartnerError } from './errors';

export interface ReadRetry {
  tries: number;
  /** The delay after the first try. It doubles with each try. */
  firstDelayMs: number;
  /** Whether to honour a Retry-After of this length. If not, the read fails. */
  mayWait: (requestedMs: number) => boolean;
  signal: AbortSignal;
}

/**
 * Retries a read while its error is retryable.
 * @throws the last error, or the signal's reason if it is aborted
 */
export async function withRetry<T>(retry: ReadRetry, read: () => Promise<T>): Promise<T> {
  const { tries, firstDelayMs, mayWait, signal } = retry;
  for (let attempt = 1; ; attempt++) {
    signal.throwIfAborted();
    try {
      return await read();
    } catch (error) {
      if (attempt >= tries || !isPartnerError(error) || !error.retryable) throw error;
      const [ownMs, requestedMs] = [firstDelayMs * 2 ** (attempt - 1), error.retryAfterMs ?? 0];
      if (requestedMs > ownMs && !mayWait(requestedMs)) throw error;
      // An abort ends the sleep. Its reason is thrown at the top of the loop.
      await sleep(Math.max(requestedMs, ownMs), undefined, { signal }).catch(() => undefined);
    }
  }
}

/** Allows delays of at most `maxMs` each and `totalMs` in total, counting those of parallel reads. */
export function limitDelays({ maxMs, totalMs }: { maxMs: number; totalMs: number }) {
  let leftMs = totalMs;
  return (requestedMs: number): boolean => {
    if (requestedMs > Math.min(maxMs, leftMs)) return false;
    leftMs -= requestedMs;
    return true;
  };
}
