import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { createStarter } from '../../src/starter';
import type { World } from '../support/world';
import { booked, heal, type Moment, type Stage } from './moments';

/** A purchase that has been started, and the moment that it was meant for. */
export interface Bought {
  referenceId: string;
  moment: Moment;
  reached: () => Promise<boolean>;
}

/** Asks again and again, because nothing announces it. No deadline but the test's own. */
export async function until(holds: () => Promise<boolean> | boolean, everyMs = 20): Promise<void> {
  while (!(await holds())) await pause(everyMs);
}

/** Starts a purchase for each moment, each of them twice in the same instant, as two checkouts would. */
export async function startAll(stage: Stage, moments: readonly Moment[]): Promise<Bought[]> {
  const { world } = stage;
  const second = createStarter(world.client, { taskQueue: world.taskQueue });
  return Promise.all(
    moments.map(async (moment) => {
      const referenceId = world.reference();
      const reached = moment.arrange(stage, referenceId);
      const items = Object.entries(moment.items).map(([productId, quantity]) => ({ productId, quantity }));
      const [one, other] = await Promise.all([
        world.starter.purchase({ referenceId, items }),
        second.purchase({ referenceId, items }),
      ]);
      if (one.runId !== other.runId) throw new Error(`${referenceId} was started twice`);
      return { referenceId, moment, reached };
    }),
  );
}

/** Waits until each purchase has come to its moment, at least once. */
export async function untilReached(bought: readonly Bought[]): Promise<void> {
  const waiting = new Set(bought);
  await until(async () => {
    for (const one of waiting) if (await one.reached()) waiting.delete(one);
    return waiting.size === 0;
  });
}

/**
 * Starts purchases with which nothing is wrong and strikes in the instant in which the partner has the first of them.
 *
 * @param strike must do it before it waits for anything.
 */
export async function strikeWhileBooking(stage: Stage, count: number, strike: () => void): Promise<Bought[]> {
  const moments = Array.from({ length: count }, booked);
  let over = false;
  const starting = startAll(stage, moments).finally(() => (over = true));
  const before = stage.world.sandbox.requests().place;
  while (stage.world.sandbox.requests().place === before && !over) await nextTurn();
  const bought = over ? await starting : undefined;
  while (bought && stage.world.sandbox.requests().place === before) await nextTurn();
  strike();
  return starting;
}

/**
 * Lets everything go right from now on and waits until each purchase has ended or waits for a person.
 *
 * @returns what did not end `DELIVERED`, in words.
 */
export async function recover(stage: Stage, bought: readonly Bought[]): Promise<string[]> {
  heal(stage);
  const ends = await untilSettled(
    stage.world,
    bought.map(({ referenceId }) => referenceId),
  );
  return bought
    .map(({ referenceId, moment }) => `${moment.name}: ${ends.get(referenceId)}`)
    .filter((line) => !line.endsWith(': DELIVERED'));
}

/** @returns the outcome of each purchase by its reference, or `HELD`. */
export async function untilSettled(world: World, references: readonly string[]): Promise<Map<string, string>> {
  const ends = new Map<string, string>();
  await until(async () => {
    for (const referenceId of references) {
      if (ends.has(referenceId)) continue;
      const { execution, state } = await world.starter.status(referenceId);
      if (execution !== 'RUNNING' || state === 'HELD') ends.set(referenceId, state);
    }
    return ends.size === references.length;
  }, 250);
  return ends;
}
