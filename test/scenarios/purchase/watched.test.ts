import { historyOf } from '../../support/history';
import { expectDeliveredOnce } from '../../support/purchase-checks';
import { sharedEnvironment, startTestEnvironment, type TestEnvironment } from '../../support/test-environment';
import { sharedTimeSkippingEnvironment } from '../../support/time-skipping';
import { waitUntil } from '../../support/wait-until';

/** Twenty of these intervals take longer than a test, so a second poll proves that the change was seen. */
const RARELY = { watch: 'history', pollIntervalMs: 2_000 } as const;
const OFTEN = { watch: 'history', pollIntervalMs: 200 } as const;

describe('purchases with PURCHASE_WATCH=history', () => {
  const env = sharedEnvironment({
    settings: { ...RARELY, partnerTimeoutMs: 5_000 },
    sandbox: { historyPageLimit: 3, historyShift: 1 },
  });

  it('are polled again only when their row is no longer open, even while pages shift', async () => {
    const [changed = '', ...others] = await buyNever(env, 5);
    const readings = historyReadings(env);
    await waitUntil('the order history was read', () => historyReadings(env) >= readings + 2);
    for (const referenceId of [changed, ...others]) expect(await pollsOf(env, referenceId)).toBe(1);
    await env.changeOrder(changed, { status: 'COMPLETED' });

    await expectDeliveredOnce(env, changed, 2);
    // Two polls and the read for the delivery.
    expect(await pollsOf(env, changed)).toBe(3);
    for (const other of others) expect(await pollsOf(env, other)).toBe(1);
  });

  it('treat a row as a hint: a wrong, foreign or unreadable row costs polls and hides no change', async () => {
    const [wrong = '', foreign = '', unreadable = '', early = ''] = await buyNever(env, 4);
    const { id: orderId } = await env.orderOf(early);
    const open = { type: 'merge', data: { status: 'PROCESSING' } } as const;
    env.sandbox.addFault({ operation: 'keys', orderId, times: 2, when: 'after', action: open });
    await env.changeOrder(wrong, { shownRow: { status: 'FAILED' } });
    await env.changeOrder(foreign, { status: 'COMPLETED', shownRow: { reference_id: foreign.toLowerCase() } });
    await env.changeOrder(unreadable, { status: 'COMPLETED', shownRow: { created_at: 'yesterday' } });
    await env.changeOrder(early, { status: 'COMPLETED' });

    const ended = [foreign, unreadable, early];
    const results = await Promise.all(ended.map((referenceId) => env.starter.result(referenceId)));
    expect(results.map(({ outcome }) => outcome)).toEqual(['DELIVERED', 'DELIVERED', 'DELIVERED']);
    // The first poll, two that still show it open, the one that does not, and the read for the delivery.
    expect(await pollsOf(env, early)).toBe(5);
    expect(await env.starter.status(wrong)).toMatchObject({ state: 'PENDING', workflowStatus: 'RUNNING' });
    await waitUntil('the wrong one was polled on', async () => (await pollsOf(env, wrong)) > 1);
  });
});

describe('an order history that cannot be read', () => {
  const env = sharedEnvironment({ settings: OFTEN });

  it('leaves a poll on every twentieth attempt, and the watch continues when it can be read again', async () => {
    env.sandbox.addFault({ operation: 'orders', times: 'always', nth: 2, action: { type: 'answer', status: 503 } });
    const [referenceId = ''] = await buyNever(env, 1);
    await waitUntil('it is polled on an attempt of its own', async () => (await pollsOf(env, referenceId)) > 1);
    env.sandbox.clearFaults();
    await env.changeOrder(referenceId, { status: 'COMPLETED' });

    expect(await env.starter.result(referenceId)).toMatchObject({ outcome: 'DELIVERED' });
  });
});

it('does not read the order history again before its Retry-After', async () => {
  const env = await startTestEnvironment({ settings: OFTEN });
  const later = { type: 'answer', status: 429, headers: { 'retry-after': '3600' } } as const;
  env.sandbox.addFault({ operation: 'orders', nth: 2, action: later });
  const [referenceId = ''] = await buyNever(env, 1);
  await waitUntil('it is polled on an attempt of its own', async () => (await pollsOf(env, referenceId)) > 1);

  expect(historyReadings(env)).toBe(1);
});

describe('an order that stays open, with time skipping and a server without lists', () => {
  const { env } = sharedTimeSkippingEnvironment({
    settings: { watch: 'history', firstPollMs: 5_000, pollIntervalMs: 30_000, deadlineMs: 25 * 60_000 },
  });

  it('is polled on every twentieth attempt, and once more at the deadline', async () => {
    const referenceId = await env.buy({ 'demo-never': 1 });
    await env.untilSent(referenceId);

    expect(await env.starter.result(referenceId)).toMatchObject({ outcome: 'OVERDUE' });
    expect(await pollsOf(env, referenceId)).toBe(4);
    const { activities } = await historyOf(env, referenceId);
    const polls = activities.filter((name) => /pollOrder|pollUntilEnded/.test(name));
    expect(polls).toEqual(['local pollOrder', 'pollUntilEnded', 'pollOrder']);
  });
});

/** Purchases whose orders stay open until the test changes them. Each has been polled once. */
async function buyNever(env: TestEnvironment, count: number): Promise<string[]> {
  const references = await Promise.all(Array.from({ length: count }, () => env.buy({ 'demo-never': 2 })));
  for (const referenceId of references) {
    await waitUntil('it was polled', async () => (await pollsOf(env, referenceId)) === 1);
  }
  return references;
}

/** How many times the partner was asked for the keys of the purchase's order. */
async function pollsOf({ sandbox }: TestEnvironment, referenceId: string): Promise<number> {
  const [order] = await sandbox.ordersOf(referenceId);
  return sandbox.log().filter(({ path }) => path.endsWith(`/orders/${order?.id}/keys`)).length;
}

/** How many times the first page of the whole order history was read. */
function historyReadings({ sandbox }: TestEnvironment): number {
  return sandbox.log().filter(({ path }) => path.includes('/orders?page=1&')).length;
}
