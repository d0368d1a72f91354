import { createStarter } from '../../../src/starter/index';
import type { TestEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';
import { type CrashPoint, type FaultyEnvironment, heal } from './crash-points';

/** Longer than any of these purchases may take, even on a slow machine. */
const SETTLED_WITHIN_MS = 30 * 60_000;

/** A started purchase, and its intended crash point. */
export interface Bought {
  referenceId: string;
  crashPoint: CrashPoint;
  reached: () => Promise<boolean>;
}

/** Starts a purchase for each crash point, twice at the same moment, as two checkouts would. */
export async function startAll(environment: FaultyEnvironment, crashPoints: readonly CrashPoint[]): Promise<Bought[]> {
  const bought = arrangeAll(environment, crashPoints);
  await Promise.all(bought.map((one) => startTwice(environment, one)));
  return bought;
}

function arrangeAll(environment: FaultyEnvironment, crashPoints: readonly CrashPoint[]): Bought[] {
  return crashPoints.map((crashPoint) => {
    const referenceId = environment.reference();
    return { referenceId, crashPoint, reached: crashPoint.arrange(environment, referenceId) };
  });
}

async function startTwice(environment: TestEnvironment, { referenceId, crashPoint }: Bought): Promise<void> {
  const second = createStarter(environment.client, { taskQueue: environment.taskQueue });
  const items = Object.entries(crashPoint.items).map(([productId, quantity]) => ({ productId, quantity }));
  const [one, other] = await Promise.all([
    environment.starter.purchase({ referenceId, items }),
    second.purchase({ referenceId, items }),
  ]);
  if (one.runId !== other.runId) throw new Error(`${referenceId} was started twice`);
}

/** Waits until each purchase has reached its crash point. @throws Error that names those that did not */
export async function untilReached(bought: readonly Bought[]): Promise<void> {
  const waiting = new Set(bought);
  await waitUntil(
    () => `these were reached: ${[...waiting].map(({ crashPoint }) => crashPoint.name).join('; ')}`,
    async () => {
      for (const one of waiting) if (await one.reached()) waiting.delete(one);
      return waiting.size === 0;
    },
  );
}

/**
 * Starts purchases and kills at the moment when the partner has read this many of their orders.
 *
 * @param kill must kill before it waits for anything
 */
export async function killWhilePlacing(
  environment: FaultyEnvironment,
  crashPoints: readonly CrashPoint[],
  kill: () => void,
  orders = 1,
): Promise<Bought[]> {
  const { sandbox } = environment;
  const bought = arrangeAll(environment, crashPoints);
  const isPlaced = ({ referenceId }: Bought) => sandbox.placeRequestsOf(referenceId) > 0;
  const enough = waitUntil(`${orders} orders are placed`, () => bought.filter(isPlaced).length >= orders, {
    everyMs: 0,
  });
  await Promise.all([enough.then(kill), ...bought.map((one) => startTwice(environment, one))]);
  return bought;
}

/**
 * Clears all faults and waits until each purchase has ended or is held.
 *
 * @returns the purchases that did not end `DELIVERED`, in words
 */
export async function recover(environment: FaultyEnvironment, bought: readonly Bought[]): Promise<string[]> {
  heal(environment);
  const ends = await untilSettled(environment, referencesOf(bought));
  return bought
    .map(({ referenceId, crashPoint }) => `${crashPoint.name}: ${ends.get(referenceId)}`)
    .filter((line) => !line.endsWith(': DELIVERED'));
}

/** @returns the outcome of each purchase by its reference, or `HELD` */
export async function untilSettled(
  { starter }: TestEnvironment,
  references: readonly string[],
): Promise<Map<string, string>> {
  const ends = new Map<string, string>();
  await waitUntil(
    () => `these have ended or are held: ${references.filter((referenceId) => !ends.has(referenceId)).join(', ')}`,
    async () => {
      for (const referenceId of references) {
        if (ends.has(referenceId)) continue;
        // A server may refuse a query about hundreds of purchases; it is repeated.
        const status = await starter.status(referenceId).catch(() => undefined);
        if (status && (status.workflowStatus !== 'RUNNING' || status.state === 'HELD'))
          ends.set(referenceId, status.state);
      }
      return ends.size === references.length;
    },
    { withinMs: SETTLED_WITHIN_MS, everyMs: 250 },
  );
  return ends;
}

export function referencesOf(bought: readonly { referenceId: string }[]): string[] {
  return bought.map(({ referenceId }) => referenceId);
}
