import { setTimeout } from 'node:timers/promises';
import { brakeWorkflowId, PURCHASING_REFERENCE } from '../../src/contracts/names';
import { type BrakeStatus, readBrake } from '../../src/temporal/client';
import type { TestEnvironment } from './test-environment';
import { waitUntil } from './wait-until';

/** The brake of an environment, as the server knows it. */
export function brakeOf(env: TestEnvironment): Promise<BrakeStatus> {
  return readBrake(env.client, env.taskQueue, 5_000);
}

export async function untilClosed(env: TestEnvironment): Promise<void> {
  await waitUntil('the brake is closed', async () => (await brakeOf(env)).closed !== undefined);
}

export function brakeHandle(env: TestEnvironment) {
  return env.client.workflow.getHandle(brakeWorkflowId(env.taskQueue));
}

/** What the checkout was told of all purchases, in order. */
export function purchasingEvents(env: TestEnvironment): string[] {
  return env.eventTypes(PURCHASING_REFERENCE);
}

/** Starts so many purchases of one piece each. */
export function buyMany(env: TestEnvironment, count: number): Promise<string[]> {
  return Promise.all(Array.from({ length: count }, () => env.buy({ 'demo-instant': 1 })));
}

/**
 * Ends the brake whenever there is one, as an operator may: of workers in processes of their own, where many placements go wrong on
 * purpose.
 *
 * @returns stops that.
 */
export function keepBrakeOpen(env: Pick<TestEnvironment, 'client' | 'taskQueue'>): () => Promise<void> {
  const stopping = new AbortController();
  const brake = env.client.workflow.getHandle(brakeWorkflowId(env.taskQueue));
  const ending = (async () => {
    while (!stopping.signal.aborted) {
      await brake.terminate('this test is not about it').catch(() => undefined);
      await setTimeout(500, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  })();
  return () => {
    stopping.abort();
    return ending;
  };
}
