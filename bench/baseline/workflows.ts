import { proxyActivities, sleep } from '@temporalio/workflow';
import type * as activities from './activities';

const { placeOrder, getOrder, deliver } = proxyActivities<typeof activities>({ startToCloseTimeout: '1 minute' });

export interface Input {
  referenceId: string;
  items: activities.Item[];
  firstPollMs: number;
  pollIntervalMs: number;
}

/** A purchase as the official samples would write it: one activity after another, a sleep between polls. */
export async function purchase({ referenceId, items, firstPollMs, pollIntervalMs }: Input): Promise<string> {
  const orderId = await placeOrder(referenceId, items);
  if (firstPollMs > 0) await sleep(firstPollMs);
  let order = await getOrder(orderId);
  while (order.status === 'PENDING' || order.status === 'PROCESSING') {
    await sleep(pollIntervalMs);
    order = await getOrder(orderId);
  }
  await deliver(referenceId, order);
  return order.status;
}
