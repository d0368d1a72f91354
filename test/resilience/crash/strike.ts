import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { createStarter } from '../../../src/starter/index';
import type { World } from '../../support/world';
import { heal, type Moment, type Stage } from './moments';

/** A moment that has not come by then never will. */
const PATIENCE_MS = 90_000;

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
  const bought = arrangeAll(stage, moments);
  await Promise.all(bought.map((one) => startTwice(stage.world, one)));
  return bought;
}

function arrangeAll(stage: Stage, moments: readonly Moment[]): Bought[] {
  return moments.map((moment) => {
    const referenceId = stage.world.reference();
    return { referenceId, moment, reached: moment.arrange(stage, referenceId) };
  });
}

async function startTwice(world: World, { referenceId, moment }: Bought): Promise<void> {
  const second = createStarter(world.client, { taskQueue: world.taskQueue });
  const items = Object.entries(moment.items).map(([productId, quantity]) => ({ productId, quantity }));
  const [one, other] = await Promise.all([
    world.starter.purchase({ referenceId, items }),
    second.purchase({ referenceId, items }),
  ]);
  if (one.runId !== other.runId) throw new Error(`${referenceId} was started twice`);
}

/** Waits until each purchase has come to its moment, at least once. @throws Error that names those that did not */
export async function untilReached(bought: readonly Bought[]): Promise<void> {
  const waiting = new Set(bought);
  const giveUp = Date.now() + PATIENCE_MS;
  await until(async () => {
    for (const one of waiting) if (await one.reached()) waiting.delete(one);
    if (Date.now() > giveUp) throw new Error(`never came: ${[...waiting].map(({ moment }) => moment.name).join('; ')}`);
    return waiting.size === 0;
  });
}

/**
 * Starts purchases and strikes in the instant in which the partner has read so many of their orders.
 *
 * @param strike must do it before it waits for anything.
 */
export async function strikeWhilePlacing(
  stage: Stage,
  moments: readonly Moment[],
  strike: () => void,
  orders = 1,
): Promise<Bought[]> {
  const { sandbox } = stage.world;
  const bought = arrangeAll(stage, moments);
  const struck = (async () => {
    while (bought.filter((one) => sandbox.placeRequestsOf(one.referenceId) > 0).length < orders) await nextTurn();
    strike();
  })();
  await Promise.all([struck, ...bought.map((one) => startTwice(stage.world, one))]);
  return bought;
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
