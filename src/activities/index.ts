import { activityInfo } from '@temporalio/activity';
import type { Activities } from '../contracts/activities';
import type { BrakeActivities } from '../contracts/brake';
import type { ReconcileActivities } from '../contracts/reconciliation';
import type { WatchActivities } from '../contracts/watch';
import { createBrake } from './brake';
import { createCheckOrderActivities } from './check-order';
import { createDeliverEventActivities } from './deliver-event';
import type { ActivityDependencies } from './dependencies';
import { createFindOrdersActivities } from './find-orders';
import { createBrakeActivities } from './operate-brake';
import { createPlaceOrderActivities } from './place-order';
import { createReconcileActivities, type ReconcileDependencies } from './reconcile/index';
import { createPlanDeliveryActivities } from './plan-delivery';
import { createPollOrderActivities } from './poll-order';
import { createWatchActivities, type WatchDependencies } from './watch-orders';

export { createLogContext } from './log-context';
export { type ActivityDependencies, createBrake };

/** Builds the activities of purchases. None of them ever brings a key into Temporal. */
export function createActivities(deps: ActivityDependencies): Activities {
  return {
    async readSettings() {
      return { settings: deps.settings, fingerprintSecretId: deps.fingerprints.newestId() };
    },
    async currentRun() {
      return { runId: activityInfo().workflowExecution?.runId ?? '' };
    },
    ...createPlaceOrderActivities(deps),
    ...createFindOrdersActivities(deps),
    ...createPollOrderActivities(deps),
    ...createCheckOrderActivities(deps),
    ...createPlanDeliveryActivities(deps),
    ...createDeliverEventActivities(deps),
  };
}

/** Builds all activities of a worker: of purchases, the reconciliation, the watcher and the brake. */
export function createAllActivities(
  deps: ReconcileDependencies & WatchDependencies,
): Activities & ReconcileActivities & WatchActivities & BrakeActivities {
  return {
    ...createActivities(deps),
    ...createReconcileActivities(deps),
    ...createWatchActivities(deps),
    ...createBrakeActivities(deps),
  };
}
