import { setTimeout } from 'node:timers/promises';
import type { Environment } from './environment';
import type { Polling, Side } from './sides';

/** Purchases that a checkout starts at the same time. */
const AT_ONCE = 50;
/** Between two counts: another process that counts must not become busy with it. */
const EVERY_MS = 300;

/** @returns the references of so many purchases, none of them started yet. */
export function references(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `BENCH-${index + 1}`);
}

/** Starts them, some at a time, each of one unit. */
export async function startAll(
  { temporal }: Environment,
  side: Side,
  wanted: readonly string[],
  productId: string,
  polling: Polling,
): Promise<void> {
  const left = wanted.toReversed();
  const startSome = async () => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      await side.start(temporal.client, next, productId, polling);
    }
  };
  await allOf(Array.from({ length: AT_ONCE }, startSome));
}

/** Waits for the end of all of them, so that none still runs when its server is stopped. @throws what the first threw that failed */
export async function allOf(work: readonly Promise<unknown>[]): Promise<void> {
  for (const outcome of await Promise.allSettled(work)) {
    if (outcome.status === 'rejected') throw outcome.reason as Error;
  }
}

/** What goes on beside other work: whoever waits for it later gets its error, and until then nobody. */
export function meanwhile<T>(work: Promise<T>): Promise<T> {
  work.catch(() => undefined);
  return work;
}

/**
 * Waits until `count` has reached `wanted`.
 *
 * @param stallMs gives up when it has not grown for so long.
 * @returns what was reached
 */
export async function untilReached(
  wanted: number,
  count: () => number | Promise<number>,
  stallMs: number,
  progress: (detail: string) => void,
): Promise<number> {
  let reached = await count();
  let grewAt = Date.now();
  while (reached < wanted && Date.now() - grewAt < stallMs) {
    await setTimeout(EVERY_MS);
    const now = await count();
    if (now > reached) grewAt = Date.now();
    reached = now;
    progress(`${reached} of ${wanted}`);
  }
  return reached;
}

/** Purchases that have ended, as the server lists them. */
export async function endedPurchases({ temporal }: Environment, { workflowType }: Side): Promise<number> {
  const query = `WorkflowType = '${workflowType}' AND ExecutionStatus != 'Running'`;
  return (await temporal.client.workflow.count(query)).count;
}
