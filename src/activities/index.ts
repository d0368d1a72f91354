import { activityInfo } from '@temporalio/activity';
import type { Activities } from '../contracts/activities';
import type { ReconcileActivities } from '../contracts/reconciliation';
import { createCheckOrderActivities } from './check-order';
import { createDeliverEventActivities } from './deliver-event';
import type { ActivityDependencies } from './dependencies';
import { createFindOrdersActivities } from './find-orders';
import { createPlaceOrderActivities } from './place-order';
import { createReconcileActivities, type ReconcileDependencies } from './reconcile/index';
import { createPlanDeliveryActivities } from './plan-delivery';
import { createPollOrderActivities } from './poll-order';

export type { ActivityDependencies };

/** Builds the activities of purchases. None of them ever brings a key into Temporal. */
export function createActivities(deps: ActivityDependencies): Activities {
  return {
    async readSettings() {
      return { settings: deps.settings };
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

/** Builds all activities of a worker, of purchases and of the reconciliation. */
export function createAllActivities(deps: ReconcileDependencies): Activities & ReconcileActivities {
  return { ...createActivities(deps), ...createReconcileActivities(deps) };
}
