import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

/** Less than the timeout of a test, so that a wait fails first and names what is missing. */
export const HANGS_AFTER_MS = 580_000;

export interface WaitLimits {
  /** In ms. */
  withinMs?: number;
  /** The delay between two checks in ms; 0 checks at every turn of the event loop. */
  everyMs?: number;
}

/**
 * Polls `ask` until its result is neither undefined nor false.
 *
 * @param what completes the sentence "waited until …".
 * @throws Error that says what did not happen in time, or whatever `ask` throws.
 */
export async function waitUntil<T>(
  what: string | (() => string),
  ask: () => T | undefined | false | Promise<T | undefined | false>,
  { withinMs = HANGS_AFTER_MS, everyMs = 25 }: WaitLimits = {},
): Promise<T> {
  const end = Date.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (Date.now() > end)
      throw new Error(`waited ${withinMs} ms in vain until ${typeof what === 'string' ? what : what()}`);
    await (everyMs === 0 ? nextTurn() : sleep(everyMs));
  }
}
