import { isPartnerError } from '../../partner/index';

const TRIES = 4;
const FIRST_PAUSE_MS = 500;

/**
 * Repeats a read of the partner that may succeed later, a few times, at the pace that the partner asks for. Beyond that the
 * whole activity begins again.
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
      await pause(Math.max(error.retryAfterMs ?? 0, FIRST_PAUSE_MS * 2 ** (attempt - 1)), signal);
    }
  }
}

/** Works on all of them, so many at a time. The results are in the order of `all`. The first failure ends it. */
export async function inParallel<T, R>(all: readonly T[], width: number, work: (one: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const hand = async () => {
    while (next < all.length) {
      const index = next++;
      results[index] = await work(all[index] as T);
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, all.length) }, hand));
  return results;
}

/** Ends early when the signal is aborted; whoever waits asks it next. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
}
