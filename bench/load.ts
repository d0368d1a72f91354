import { setTimeout } from 'node:timers/promises';
import type { Environment } from './environment';
import type { Polling, Side } from './sides';

/** How many purchases a checkout starts at the same time. */
const AT_ONCE = 50;
/** Time between two counts, so that counting does not keep the counted process busy. */
const EVERY_MS = 300;

/** @returns this many references, without starting purchases. */
export function references(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `BENCH-${index + 1}`);
}

/** Starts the purchases, a limited number at a time, each for one unit. */
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

/** How a worker polls orders that are complete at once. */
export const POLLED_AT_ONCE: Polling = { firstPollMs: 0, pollIntervalMs: 30_000 };

/** Makes one call per reference every `everyMs`, whether or not earlier calls have ended, and waits for all of them. */
export async function callEach(
  wanted: readonly string[],
  everyMs: number,
  call: (referenceId: string) => Promise<void>,
  progress: (detail: string) => void,
): Promise<void> {
  const calls: Promise<void>[] = [];
  let ended = 0;
  for (const referenceId of wanted) {
    calls.push(meanwhile(call(referenceId).then(() => void (ended += 1))));
    await setTimeout(everyMs);
    progress(`${ended} of ${wanted.length}`);
  }
  await allOf(calls);
}

/**
 * Waits until all have ended, so that none still runs when its server stops.
 *
 * @throws the first error
 */
export async function allOf(work: readonly Promise<unknown>[]): Promise<void> {
  for (const outcome of await Promise.allSettled(work)) {
    if (outcome.status === 'rejected') throw outcome.reason as Error;
  }
}

/** Runs work in the background. An error reaches the code that awaits the work later. */
export function meanwhile<T>(work: Promise<T>): Promise<T> {
  work.catch(() => undefined);
  return work;
}

/**
 * Waits until `count` has reached `wanted`.
 *
 * @param stallMs gives up when the count has not grown for this long.
 * @returns the count reached
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

/** The number of closed purchases according to the server's list. */
export async function endedPurchases({ temporal }: Environment, { workflowType }: Side): Promise<number> {
  const query = `WorkflowType = '${workflowType}' AND ExecutionStatus != 'Running'`;
  return (await temporal.client.workflow.count(query)).count;
}
