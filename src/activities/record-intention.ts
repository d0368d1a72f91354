import { setTimeout as sleep } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import type { BeforeWrite } from '../partner';
import { withTimeout } from '../temporal/client';
import { refusalOf } from './confirm-attempt';
import type { ActivityDependencies } from './dependencies';

/** The heartbeat details that record the intention. Every heartbeat of the attempt carries them. */
const INTENTION = { intention: 'place-order' };
/** How soon after the confirmation the request must be written, so that a frozen process sends nothing late. */
const WRITE_WITHIN_MS = 2_000;
/** The SDK throttles heartbeats. It gives up an attempt that sends none for its heartbeat timeout plus 5 s. */
const BEAT_EVERY_MS = 2_000;
/**
 * The delay between two records of a process, during which the first request is written. If the process is killed, at
 * most one placement is then in an unknown state. If more than `MAX_WAITING_WITH_PAUSES` attempts wait, there is no
 * delay.
 */
const BETWEEN_RECORDS_MS = 15;
const MAX_WAITING_WITH_PAUSES = 50;
/** A waiting attempt gives up this long before its deadline, so that "not sent" is reported in time. */
const GIVE_UP_EARLY_MS = 1_000;

/**
 * Records the intention to send, as heartbeat details of the current attempt. If the worker dies, the workflow finds
 * them in the `TimeoutFailure`. If they are missing, nothing was sent. See docs/architecture.md#failure-model.
 *
 * @param limits `notAfter` (epoch ms): the latest time for a record. `serialQueue`: shared by all attempts of the
 *   process, so that at most one of them is between its record and its write.
 */
export function createIntentionRecord(
  deps: Pick<ActivityDependencies, 'client' | 'now'>,
  { notAfter, serialQueue }: { notAfter: number; serialQueue: SerialQueue },
): { record: BeforeWrite; close: () => void } {
  const { now } = deps;
  const context = Context.current();
  let beats: NodeJS.Timeout | undefined;
  const refuse = (reason: string) => {
    context.log.warn('the intention to place the order was not recorded, so no request is sent', { reason });
    return { refused: `not sent, because the intention was not recorded: ${reason}` };
  };
  const record: BeforeWrite = async () => {
    if (now() > notAfter) return refuse('the attempt expired while it waited for its turn');
    const refused = await refusalOf(deps, { details: INTENTION });
    if (refused !== undefined) return refuse(refused);
    const respondedAt = now();
    // A heartbeat without these details would erase the record.
    beats ??= setInterval(() => context.heartbeat(INTENTION), BEAT_EVERY_MS);
    return { writeBy: respondedAt + WRITE_WITHIN_MS };
  };
  const recordInTurn = () => serialQueue(notAfter - GIVE_UP_EARLY_MS - now(), record);
  return {
    record: async () => (await recordInTurn()) ?? refuse('too many placements were queued before it'),
    close: () => clearInterval(beats),
  };
}

/**
 * Runs functions one at a time, in the order of the calls.
 * @returns undefined if `run` could not start in time
 */
export type SerialQueue = <T>(maxWaitMs: number, run: () => Promise<T>) => Promise<T | undefined>;

export function createSerialQueue(): SerialQueue {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  return async (maxWaitMs, run) => {
    const before = last;
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    last = before.then(() => ended);
    waiting += 1;
    const isTurn = await withTimeout(
      maxWaitMs,
      before.then(() => true),
    );
    waiting -= 1;
    if (isTurn === undefined) {
      end();
      return undefined;
    }
    try {
      return await run();
    } finally {
      if (waiting < MAX_WAITING_WITH_PAUSES) void sleep(BETWEEN_RECORDS_MS).then(end);
      else end();
    }
  };
}
