import { randomUUID } from 'node:crypto';
import type { ClosedBrake } from '../../src/contracts/brake';
import { BRAKE_WORKFLOW, brakeWorkflowId, PURCHASING_REFERENCE } from '../../src/contracts/names';
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

/** A brake that nobody operates: it is closed as it says, or open, and stays so whatever is reported to it. */
export async function startIdleBrake(
  { client, taskQueue }: Pick<TestEnvironment, 'client' | 'taskQueue'>,
  closed?: ClosedBrake,
): Promise<void> {
  await client.workflow.start(BRAKE_WORKFLOW, {
    workflowId: brakeWorkflowId(taskQueue),
    taskQueue: randomUUID(),
    memo: { brake: closed ?? null },
    workflowIdConflictPolicy: 'TERMINATE_EXISTING',
  });
}
