import { purchaseWorkflowId, RECONCILE_SCHEDULE } from '../../../src/contracts/names';
import { createScheduleManager } from '../../../src/starter/reconciliation';
import { versioningOf } from '../../../src/temporal/worker';
import { operatorOf } from '../../support/operator';
import { expectDeliveredOnce } from '../../support/purchase-checks';
import { startTestEnvironment, type TestEnvironment } from '../../support/test-environment';
import { type Deployment, deploymentOf } from '../../support/versions';
import { waitUntil } from '../../support/wait-until';
import { startWorkerOf } from '../../support/worker';

describe('versioned workers', () => {
  it('keep a purchase on its version until an operator moves it, and start new purchases only on the current version', async () => {
    const env = await startTestEnvironment({ ownNamespace: true, worker: false });
    const deployment = deploymentOf(env);
    const startVersion = (buildId: string) =>
      startWorkerOf(env, { workerDeploymentOptions: versioningOf({ deploymentName: deployment.name, buildId }) });
    const stopFirst = await startVersion('first');
    await deployment.setCurrent('first');
    const open = await env.buy({ 'demo-never': 1 });
    await operatorOf(env, open).pending('pollUntilEnded');

    await startVersion('second');
    await deployment.setCurrent('second');
    const { referenceId: later } = await env.bought({ 'demo-instant': 1 });
    expect(await deployment.versionOf(purchaseWorkflowId(later))).toBe('PINNED to second');
    expect(await nightlyReconciliation(env, deployment)).toBe('PINNED to second');
    expect(await deployment.versionOf(purchaseWorkflowId(open))).toBe('PINNED to first');

    await stopFirst();
    await env.changeOrder(open, { status: 'COMPLETED' });
    await deployment.move(purchaseWorkflowId(open), 'second');
    await expectDeliveredOnce(env, open, 1);
  });
});

async function nightlyReconciliation(env: TestEnvironment, deployment: Deployment): Promise<string> {
  const nightly = createScheduleManager(env.client, env.taskQueue);
  await nightly.create({ cron: '0 3 * * *', timezone: 'UTC', lookbackMs: 3_600_000 });
  await nightly.trigger();
  const [run] = await waitUntil(`${RECONCILE_SCHEDULE} has run`, async () => {
    const { recent, running } = await nightly.describe();
    return recent.length > 0 && running.length === 0 && recent;
  });
  return deployment.versionOf(run!.workflowId);
}
