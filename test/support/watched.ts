import type { Sandbox } from '../../sandbox';
import type { TestEnvironment } from './test-environment';

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

/** How often the partner was asked for the keys of the order of a purchase. */
export async function pollsOf({ sandbox }: TestEnvironment, referenceId: string): Promise<number> {
  const [order] = await sandbox.ordersOf(referenceId);
  return sandbox.log().filter(({ path }) => path.endsWith(`/orders/${order?.id}/keys`)).length;
}

/** How often the first page of the whole order history was read. */
export function historyReadings({ sandbox }: TestEnvironment): number {
  return sandbox.log().filter(({ path }) => path.includes('/orders?page=1&')).length;
}
