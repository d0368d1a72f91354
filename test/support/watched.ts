import type { Sandbox } from '../../sandbox';
import { createPurchaseReader } from '../../src/temporal/client';
import type { TestEnvironment } from './test-environment';
import { waitUntil } from './wait-until';

/** Waits until Temporal's lists show that these purchases have the order history read for them. */
export async function untilWatched(
  { client, taskQueue }: TestEnvironment,
  references: readonly string[],
): Promise<void> {
  await waitUntil('they wait for the watcher', async () => {
    const waiting = new Set<string>();
    for await (const { referenceId } of createPurchaseReader(client).waiting(taskQueue)) waiting.add(referenceId);
    return references.every((referenceId) => waiting.has(referenceId));
  });
}

type OrderChange = Parameters<Sandbox['changeOrder']>[1];

/** What the partner's people do to the order of a purchase. */
export async function changeOrder(
  { sandbox }: TestEnvironment,
  referenceId: string,
  change: OrderChange,
): Promise<void> {
  const [order] = await sandbox.ordersOf(referenceId);
  await sandbox.changeOrder(order!.id, change);
}

/** When the partner was asked for the keys of the order of a purchase, epoch ms. */
export async function pollsOf({ sandbox }: TestEnvironment, referenceId: string): Promise<number[]> {
  const [order] = await sandbox.ordersOf(referenceId);
  const asked = sandbox.log().filter(({ path }) => path.endsWith(`/orders/${order?.id}/keys`));
  return asked.map(({ at }) => Date.parse(at));
}

/** How often the first page of the whole order history was read. */
export function historyReadings({ sandbox }: TestEnvironment): number {
  return sandbox.log().filter(({ path }) => path.includes('/orders?page=1&')).length;
}
