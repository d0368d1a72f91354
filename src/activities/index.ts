import { activityInfo } from '@temporalio/activity';
import type { Activities } from '../contracts/activities';
import type { ReconcileActivities } from '../contracts/reconciliation';
import type { PurchaseSettings } from '../contracts/purchase';
import type { Delivery, Fingerprinter } from '../delivery';
import type { PartnerClient } from '../partner';
import type { PurchaseReader } from '../temporal/client';
import { createDeliverEventActivities } from './deliver-event';
import { createFindOrdersActivities } from './find-orders';
import { createPlaceOrderActivities } from './place-order';
import { createReconcileActivities, type ReconcileDependencies } from './reconcile/index';
import { createPollOrderActivities } from './poll-order';

/** What the activities work with. Everything that tests replace comes in here. */
export interface ActivityDependencies {
  partner: PartnerClient;
  delivery: Delivery;
  fingerprints: Fingerprinter;
  settings: PurchaseSettings;
  /** Of the namespace in which the worker runs. */
  purchases: PurchaseReader;
  /** Epoch ms. */
  now(): number;
}

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
    ...createDeliverEventActivities(deps),
  };
}

/** Builds all activities of a worker, of purchases and of the reconciliation. */
export function createAllActivities(deps: ReconcileDependencies): Activities & ReconcileActivities {
  return { ...createActivities(deps), ...createReconcileActivities(deps) };
}
