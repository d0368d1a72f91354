import { setTimeout as sleep } from 'node:timers/promises';
import type { TestEnvironment } from '../../support/test-environment';
import type { Moment } from './plan';

const EVERY_MS = 4;

export type Moments = ReturnType<typeof momentsOf>;

/** Tells when an event of a plan is due. */
export function momentsOf({ sandbox, receiver }: TestEnvironment, referenceOf: (name: string) => string) {
  const searched = new Set<string>();
  let begunAt = Date.now();
  let isOver = false;
  let logRead = 0;

  const hasSeen = (call: 'search' | 'place' | 'delivery', referenceId: string): boolean => {
    if (call === 'place') return sandbox.placeRequestsOf(referenceId) > 0;
    if (call === 'delivery') return receiver.attemptsOf(referenceId).length > 0;
    const log = sandbox.log();
    for (const { operation, path } of log.slice(logRead)) {
      const [, query = ''] = path.split('?');
      if (operation === 'orders') for (const value of new URLSearchParams(query).values()) searched.add(value);
    }
    logRead = log.length;
    return searched.has(referenceId);
  };
  return {
    /** A part of the day begins, and times count from here. */
    begin() {
      begunAt = Date.now();
      isOver = false;
    },
    /** From now on nothing waits for a call that has not happened. */
    end: () => void (isOver = true),
    /** @returns whether the moment has come; false when the part of the day is over */
    async come(moment: Moment): Promise<boolean> {
      if ('atMs' in moment) {
        await sleep(Math.max(0, begunAt + moment.atMs - Date.now()));
        return true;
      }
      while (!hasSeen(moment.after, referenceOf(moment.of))) {
        if (isOver) return false;
        await sleep(EVERY_MS);
      }
      await sleep(moment.ms);
      return true;
    },
  };
}
