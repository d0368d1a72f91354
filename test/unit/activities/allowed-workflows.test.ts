import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { createActivities } from '../../../src/activities';
import type { ReconcileDependencies } from '../../../src/activities/reconcile';
import { FAST } from '../../support/settings';

const OWN_WORKFLOWS: Record<string, string[]> = {
  readSettings: ['purchaseWorkflow', 'deliverWorkflow'],
  readRunId: ['purchaseWorkflow'],
  placeOrder: ['purchaseWorkflow'],
  findOrders: ['purchaseWorkflow'],
  pollUntilEnded: ['purchaseWorkflow'],
  pollOrder: ['purchaseWorkflow'],
  checkOrder: ['purchaseWorkflow'],
  readEndedPurchase: ['deliverWorkflow'],
  deliverSale: ['purchaseWorkflow', 'deliverWorkflow'],
  deliverNotice: ['purchaseWorkflow', 'deliverWorkflow'],
  reconcileOrders: ['reconcileWorkflow'],
};
/** `undefined`: an activity that a client started without a workflow. */
const WORKFLOWS = ['purchaseWorkflow', 'deliverWorkflow', 'reconcileWorkflow', 'somebodyElsesWorkflow', undefined];

// No dependencies, so that an activity that is allowed to run fails with another error.
const activities: Record<string, (...args: never[]) => Promise<unknown>> = {
  ...createActivities({ settings: FAST } as ReconcileDependencies),
};

it.each(Object.keys(activities))('%s runs only if one of its own workflows started it', async (activityType) => {
  for (const workflowType of WORKFLOWS) {
    const environment = new MockActivityEnvironment(
      { activityType, workflowType },
      { logger: new DefaultLogger('ERROR') },
    );
    const ended = await environment.run(activities[activityType]!, {} as never).then(
      () => undefined,
      (error: { type?: string; nonRetryable?: boolean }) => error,
    );
    if (OWN_WORKFLOWS[activityType]!.includes(workflowType!)) expect(ended?.type).not.toBe('WrongWorkflow');
    else expect(ended).toMatchObject({ type: 'WrongWorkflow', nonRetryable: true });
  }
});
