import { setTimeout as sleep } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import {
  ActivityCancelledError,
  ActivityNotFoundError,
  ActivityPausedError,
  ActivityResetError,
} from '@temporalio/client';
import type { BeforeWrite } from '../partner';
import { withinMs } from '../temporal/client';
import type { ActivityDependencies } from './dependencies';
import { nameOf } from './failures';

/** What stands on record of an attempt that is about to write. Every beat of the attempt has these very details. */
const INTENT = { intent: 'place-order' };
/** How long the server may take to answer. After that nothing is written, whatever it has kept. */
const ANSWER_WITHIN_MS = 5_000;
/** How long after the answer the write may come: whoever is frozen in between writes nothing. */
const WRITE_WITHIN_MS = 2_000;
/** Core gives an attempt up that does not beat for its heartbeat timeout and 5 s more. It sends on only some of the beats. */
const BEAT_EVERY_MS = 2_000;
/**
 * From one record to the next of the same process, while the first one's request is written. A worker that dies in between leaves
 * a placement of which nobody knows. It allows some fifty placements a second; there is none where those at the end would come too late.
 */
const BETWEEN_RECORDS_MS = 15;
const MOST_WITH_PAUSES = 50;
/** So long before a record is of no use any more, whoever waits for its turn leaves: that nothing was sent is to arrive in time. */
const LEAVE_MS = 1_000;

/**
 * Prepares the record of the current attempt: heartbeat details, which the workflow finds in the `TimeoutFailure` of an attempt
 * whose worker died. Without them nothing was written: docs/architecture.md#the-intention-on-record.
 *
 * @param limits `notAfter` (epoch ms): from when on there is no use in a record. `oneByOne` is shared by all attempts of a
 *   process: should it die, at most one of them is between its record and its write.
 */
export function createIntent(
  { client, now }: Pick<ActivityDependencies, 'client' | 'now'>,
  { notAfter, oneByOne }: { notAfter: number; oneByOne: Sequence },
): { record: BeforeWrite; close: () => void } {
  const context = Context.current();
  let beats: NodeJS.Timeout | undefined;
  const refuse = (why: string) => {
    context.log.warn('the intention to place an order is not on record, so nothing is written', { why });
    return { refused: `not sent, the intention is not on record: ${why}` };
  };
  const record: BeforeWrite = async () => {
    const calledAt = now();
    if (calledAt > notAfter) return refuse('its time was over before its turn came');
    try {
      await client.withDeadline(calledAt + ANSWER_WITHIN_MS, () =>
        client.activity.heartbeat(context.info.taskToken, INTENT),
      );
    } catch (error) {
      return refuse(whyRefused(error));
    }
    const answeredAt = now();
    // The process was frozen, or too busy to notice its own deadline.
    if (answeredAt - calledAt > ANSWER_WITHIN_MS) return refuse('Temporal answered too late');
    // A beat without these details would erase the record.
    beats ??= setInterval(() => context.heartbeat(INTENT), BEAT_EVERY_MS);
    return { writeBy: answeredAt + WRITE_WITHIN_MS };
  };
  const inTurn = () => oneByOne(notAfter - LEAVE_MS - now(), record);
  return {
    record: async () => (await inTurn()) ?? refuse('too many others were before it'),
    close: () => clearInterval(beats),
  };
}

/** Runs one after another, in the order of the calls. @returns undefined where a turn does not come in time: nothing was run then */
export type Sequence = <T>(patienceMs: number, run: () => Promise<T>) => Promise<T | undefined>;

export function createSequence(): Sequence {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  return async (patienceMs, run) => {
    const before = last;
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    last = before.then(() => ended);
    waiting += 1;
    const isTurn = await withinMs(
      patienceMs,
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
      if (waiting < MOST_WITH_PAUSES) void sleep(BETWEEN_RECORDS_MS).then(end);
      else end();
    }
  };
}

function whyRefused(error: unknown): string {
  if (error instanceof ActivityPausedError) return 'the attempt was paused';
  if (error instanceof ActivityResetError) return 'the attempt was reset';
  if (error instanceof ActivityCancelledError) return 'the attempt was cancelled';
  if (error instanceof ActivityNotFoundError) return 'Temporal has given the attempt up';
  return `Temporal did not answer (${nameOf(error)})`;
}
