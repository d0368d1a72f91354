import { operatorOf } from './operator';
import type { TestEnvironment } from './test-environment';

/** The checkout has each key that the partner has issued for a purchase once, and no other; so many, where that is given. */
export async function expectAllKeys(env: TestEnvironment, referenceId: string, count?: number): Promise<void> {
  const { issued, received } = await env.audit(referenceId);
  expect(received).toEqual(issued);
  expect(received).toHaveLength(count ?? issued.length);
}

/** It ends DELIVERED: one order from one request, the checkout has each of its keys once, and no workflow task has failed. */
export async function expectDeliveredOnce(env: TestEnvironment, referenceId: string, keys: number): Promise<void> {
  expect(await env.starter.result(referenceId)).toMatchObject({ outcome: 'DELIVERED' });
  expect(await env.audit(referenceId)).toMatchObject({ orderCount: 1, requests: 1 });
  await expectAllKeys(env, referenceId, keys);
  expect(await operatorOf(env, referenceId).brokenTasks()).toEqual([]);
}
