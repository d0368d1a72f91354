import { ACTIVITY, watchWorkflowId } from '../../../src/contracts/names';
import { expectDeliveredOnce } from '../../support/checks';
import { startReadyWorker, workerEnvOf } from '../../support/processes';
import { startTestEnvironment, type TestEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';
import { changeOrder, pollsOf, untilWatched } from '../../support/watched';

jest.setTimeout(120_000);

// It waits until the server gives a dead worker up, which takes 20 s.
it.concurrent.each(['SIGKILL', 'SIGTERM'] as const)(
  'a worker that watches gets %s: another one goes on, also with PURCHASE_WATCH=orders, and wakes what has changed',
  async (signal) => {
    const settings = { watch: 'history', pollIntervalMs: 4_000, deadlineMs: 180_000 } as const;
    const env = await startTestEnvironment({ worker: false, settings });
    const victim = await startReadyWorker({ env: workerEnvOf(env) });
    const references = await Promise.all([1, 2].map(() => env.buy({ 'demo-never': 1 })));
    await untilWatched(env, references);
    await untilWatching(env);
    const [changed = '', other = ''] = references;

    await startReadyWorker({ env: workerEnvOf(env, { PURCHASE_WATCH: 'orders' }) });
    expect(await victim.end(signal)).toBe(signal === 'SIGTERM' ? 0 : null);
    await changeOrder(env, changed, { status: 'COMPLETED' });

    const [result] = await env.ended([changed], 100_000);
    expect(result).toMatchObject({ outcome: 'DELIVERED' });
    await expectDeliveredOnce(env, changed, 1);
    expect(await pollsOf(env, changed)).toHaveLength(3);
    expect(await pollsOf(env, other)).toHaveLength(1);
  },
);

async function untilWatching({ client, taskQueue }: TestEnvironment): Promise<void> {
  await waitUntil('the watcher is at work', async () => {
    const { raw } = await client.workflow.getHandle(watchWorkflowId(taskQueue)).describe();
    return raw.pendingActivities?.some(
      ({ activityType, lastStartedTime }) => activityType?.name === ACTIVITY.watchOrders && lastStartedTime,
    );
  });
}
