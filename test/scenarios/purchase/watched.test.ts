import { WorkflowNotFoundError } from '@temporalio/client';
import { KEEP_WATCHING_SIGNAL, ORDER_CHANGED_SIGNAL, watchWorkflowId } from '../../../src/contracts/names';
import { expectDeliveredOnce } from '../../support/checks';
import { historyOf } from '../../support/history';
import { operatorOf } from '../../support/operator';
import { sharedEnvironment, type TestEnvironment } from '../../support/test-environment';
import { sharedTimeSkippingEnvironment } from '../../support/time-skipping';
import { changeOrder, historyReadings, pollsOf, untilWatched } from '../../support/watched';
import { waitUntil } from '../../support/wait-until';

/** Twenty of these intervals are longer than a test: whoever is polled again was woken. */
const RARELY = { watch: 'history', pollIntervalMs: 2_000, deadlineMs: 300_000 } as const;
const OFTEN = { watch: 'history', pollIntervalMs: 200, deadlineMs: 300_000 } as const;

describe('purchases for which the order history is read', () => {
  const env = sharedEnvironment({
    settings: { ...RARELY, partnerTimeoutMs: 5_000 },
    sandbox: { historyPageLimit: 3, historyShift: 1 },
  });

  it('are polled once more when their row is no longer open, and not at all before, while pages shift', async () => {
    const references = await buyNever(env, 5);
    const [changed = '', ...others] = references;
    await changeOrder(env, changed, { status: 'COMPLETED' });

    expect(await env.starter.result(changed)).toMatchObject({ outcome: 'DELIVERED' });
    await expectDeliveredOnce(env, changed, 2);
    // The first poll, the second, and the read of the delivery.
    expect(await pollsOf(env, changed)).toHaveLength(3);
    for (const other of others) expect(await pollsOf(env, other)).toHaveLength(1);
    const { memo } = await env.client.workflow.getHandle(`purchase-${changed}`).describe();
    expect(memo).not.toHaveProperty('watchedSince');
  });

  it('take a row for a hint: a wrong one costs some polls, one of another reference or that cannot be read none, and one that comes first is polled on', async () => {
    const [wrong = '', foreign = '', unreadable = '', changed = ''] = await buyNever(env, 4);
    const [order] = await env.sandbox.ordersOf(changed);
    const open = { type: 'merge', data: { status: 'PROCESSING' } } as const;
    env.sandbox.addFault({ operation: 'keys', orderId: order!.id, times: 2, when: 'after', action: open });
    const anHour = { type: 'answer', status: 503, headers: { 'retry-after': '3600' } } as const;
    env.sandbox.addFault({ operation: 'orders', action: anHour });
    await changeOrder(env, wrong, { shownRow: { status: 'FAILED' } });
    await changeOrder(env, foreign, { shownRow: { status: 'COMPLETED', reference_id: foreign.toLowerCase() } });
    await changeOrder(env, unreadable, { shownRow: { status: 'COMPLETED', created_at: 'yesterday' } });
    await changeOrder(env, changed, { status: 'COMPLETED' });
    expect(await env.starter.result(changed)).toMatchObject({ outcome: 'DELIVERED' });
    // The first poll, two that show it open, the one that does not, and the read of the delivery.
    expect(await pollsOf(env, changed)).toHaveLength(5);
    await waitUntil('the wrong one was polled on', async () => (await pollsOf(env, wrong)).length === 5);
    const readings = historyReadings(env);
    await waitUntil('the order history was read twice more', () => historyReadings(env) >= readings + 2);

    expect(await pollsOf(env, wrong)).toHaveLength(5);
    // Its polls without the watcher begin anew behind these, or one of them could come right after one of these.
    const { activities } = await historyOf(env, wrong);
    expect(activities.filter((name) => name === 'awaitOrderChange')).toHaveLength(2);
    expect(await pollsOf(env, foreign)).toHaveLength(1);
    expect(await pollsOf(env, unreadable)).toHaveLength(1);
    expect(await env.starter.status(wrong)).toMatchObject({ state: 'PENDING', execution: 'RUNNING' });
  });

  it('poll no closer than the interval, however often they are woken, and whatever a signal holds', async () => {
    const [referenceId = ''] = await buyNever(env, 1);
    const handle = env.client.workflow.getHandle(`purchase-${referenceId}`);
    const { orderId } = await env.starter.status(referenceId);
    for (let polls = 1; polls < 3; polls += 1) {
      for (const payload of [undefined, null, 'x', { orderId: 'another' }, { orderId }, { orderId }]) {
        await handle.signal(ORDER_CHANGED_SIGNAL, payload);
      }
      await waitUntil('it was polled', async () => (await pollsOf(env, referenceId)).length > polls);
    }
    const [first = 0, second = 0, third = 0] = await pollsOf(env, referenceId);
    // The record of a local activity may have its end some ms early.
    expect(Math.min(second - first, third - second)).toBeGreaterThan(RARELY.pollIntervalMs - 50);
  });

  it('end with what a poll without the watcher has shown, also where the poll that they were woken for shows less', async () => {
    const [referenceId = ''] = await buyNever(env, 1);
    const { orderId = '' } = await env.starter.status(referenceId);
    env.sandbox.addFault({ operation: 'keys', orderId, times: 'always', action: { type: 'hang' } });
    await env.client.workflow.getHandle(`purchase-${referenceId}`).signal(ORDER_CHANGED_SIGNAL, { orderId });
    const operator = operatorOf(env, referenceId);
    await operator.pending('getOrder');
    const lines = [{ productId: 'demo-never', quantity: 2, fingerprints: [] }];
    await operator.complete('awaitOrderChange', { orderId, status: 'FAILED', lines });
    await operator.complete('getOrder', { orderId, status: 'PROCESSING', lines });

    expect(await env.starter.result(referenceId)).toMatchObject({ outcome: 'FAILED' });
  });
});

describe('the watcher', () => {
  const env = sharedEnvironment({ settings: OFTEN });
  const watcher = (runId?: string) => env.client.workflow.getHandle(watchWorkflowId(env.taskQueue), runId);
  const statusOf = async (runId?: string) => (await watcher(runId).describe()).status.name;
  /** The id of a run other than that one: a slow server shows the watcher a moment after its purchase waits. */
  const untilItRuns = (other?: string) =>
    waitUntil('the watcher runs', async () => {
      const found = await watcher().describe().catch(undefinedIfNotFound);
      return found?.status.name === 'RUNNING' && found.runId !== other && found.runId;
    });

  it.each(['terminate', 'cancel'] as const)(
    'that is gone (%s) is missed for twenty intervals: the purchase polls by itself, and calls for it',
    async (how) => {
      const [referenceId = ''] = await buyNever(env, 1);
      const gone = await untilItRuns();
      await watcher()[how]();

      await untilItRuns(gone);
      expect(await statusOf(gone)).toBe(how === 'cancel' ? 'CANCELLED' : 'TERMINATED');
      expect((await pollsOf(env, referenceId)).length).toBeGreaterThan(1);
      await changeOrder(env, referenceId, { status: 'COMPLETED' });
      expect(await env.starter.result(referenceId)).toMatchObject({ outcome: 'DELIVERED' });
    },
  );

  it('that is shown no end of an order is missed as long: the poll that comes all the same brings it up', async () => {
    const [referenceId = ''] = await buyNever(env, 1);
    await changeOrder(env, referenceId, { status: 'COMPLETED', shownRow: { status: 'PENDING' } });

    expect(await env.starter.result(referenceId)).toMatchObject({ outcome: 'DELIVERED' });
    const { activities } = await historyOf(env, referenceId);
    expect(activities).not.toContain('getOrder');
    expect(activities).toContain('awaitOrderChange');
    await expectDeliveredOnce(env, referenceId, 2);
  });

  it('ends when nobody waits any more, goes on if it is called meanwhile, and begins again for the next purchase', async () => {
    await waitUntil('it has ended', async () => (await statusOf()) === 'COMPLETED');
    const [referenceId = ''] = await buyNever(env, 1);
    const runId = await untilItRuns();
    await changeOrder(env, referenceId, { status: 'COMPLETED' });
    await env.starter.result(referenceId);
    await watcher().signal(KEEP_WATCHING_SIGNAL);

    await waitUntil('it has ended', async () => (await statusOf()) === 'COMPLETED');
    expect((await watcher().describe()).runId).not.toBe(runId);
  });
});

describe('a purchase without a watcher, on a clock that skips and a server without lists', () => {
  const { env } = sharedTimeSkippingEnvironment({
    settings: { watch: 'history', firstPollMs: 5_000, pollIntervalMs: 30_000, deadlineMs: 25 * 60_000 },
  });

  it('polls every twentieth interval, and once more at the deadline', async () => {
    const referenceId = await env.buy({ 'demo-never': 1 });
    await waitUntil('it is placed', () => env.sandbox.placeRequestsOf(referenceId) === 1);

    expect(await env.starter.result(referenceId)).toMatchObject({ outcome: 'OVERDUE' });
    expect(await pollsOf(env, referenceId)).toHaveLength(4);
    const { activities } = await historyOf(env, referenceId);
    const polls = activities.filter((name) => /getOrder|awaitOrderChange/.test(name));
    expect(polls).toEqual(['local getOrder', 'awaitOrderChange', 'getOrder']);
  });
});

/** Purchases whose orders stay open until a person changes them, and that wait for the watcher. */
async function buyNever(env: TestEnvironment, count: number): Promise<string[]> {
  const references = await Promise.all(Array.from({ length: count }, () => env.buy({ 'demo-never': 2 })));
  await untilWatched(env, references);
  for (const referenceId of references) expect((await pollsOf(env, referenceId)).length).toBe(1);
  return references;
}

function undefinedIfNotFound(error: unknown): undefined {
  if (!(error instanceof WorkflowNotFoundError)) throw error;
}
