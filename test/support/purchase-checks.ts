import { operatorOf } from './operator';
import type { TestEnvironment } from './test-environment';

/** Expects that the checkout has every issued key of a purchase exactly once, no others, and `count` in total. */
export async function expectAllKeys(env: TestEnvironment, referenceId: string, count?: number): Promise<void> {
  const { issued, received } = await env.audit(referenceId);
  expect(received).toEqual(issued);
  expect(received).toHaveLength(count ?? issued.length);
}

/** Expects DELIVERED with one order from one request, each key delivered once, and no failed workflow task. */
export async function expectDeliveredOnce(env: TestEnvironment, referenceId: string, keys: number): Promise<void> {
  expect(await env.starter.result(referenceId)).toMatchObject({ outcome: 'DELIVERED' });
  expect(await env.audit(referenceId)).toMatchObject({ orderCount: 1, requests: 1 });
  await expectAllKeys(env, referenceId, keys);
  expect(await operatorOf(env, referenceId).brokenTasks()).toEqual([]);
}
