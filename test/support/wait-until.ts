import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

export interface WaitLimits {
  /** In ms; less than a test has by itself, so that it is this wait that says what did not come. */
  withinMs?: number;
  /** The pause between two looks; 0 looks at every turn of the event loop. */
  everyMs?: number;
}

/**
 * Asks again and again, because nothing announces it, until there is an answer: neither undefined nor false.
 *
 * @param what completes the sentence "waited until …".
 * @throws Error that says what did not come in time; what `ask` throws.
 */
export async function waitUntil<T>(
  what: string | (() => string),
  ask: () => T | undefined | false | Promise<T | undefined | false>,
  { withinMs = 55_000, everyMs = 25 }: WaitLimits = {},
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
