import { activityInfo } from '@temporalio/activity';
import type { Activities } from '../contracts/activities';
import type { EarlierEvent } from '../contracts/checkout-events';
import type { ReconcileActivities } from '../contracts/reconciliation';
import type { PurchaseSettings } from '../contracts/purchase';
import type { Delivery, Fingerprinter } from '../delivery';
import type { PartnerClient } from '../partner';
import { createDeliverEventActivities } from './deliver-event';
import { createFindOrdersActivities } from './find-orders';
import { createPlaceOrderActivities } from './place-order';
import { createReconcileActivities, type ReconcileDependencies } from './reconcile/index';
import { createPollOrderActivities } from './poll-order';

/** What the hands work with. Everything that tests replace comes in here. */
export interface ActivityDependencies {
  partner: PartnerClient;
  delivery: Delivery;
  fingerprints: Fingerprinter;
  settings: PurchaseSettings;
  /** Other purchases here that name this order as theirs; an empty list where that can't be asked. */
  otherPurchasesOf(orderId: string, referenceId: string): Promise<string[]>;
  /** Events with keys that runs of this purchase other than `ownRunId` sent; throws where that can't be asked. */
  earlierEvents(referenceId: string, ownRunId: string, firstRunId: string): Promise<EarlierEvent[]>;
  /** Epoch ms. */
  now(): number;
}

/** Builds the activities of a worker. None of them ever brings a key into Temporal. */
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

/** Builds everything that a worker's hands can do: the activities of purchases and of the reconciliation. */
export function createAllActivities(deps: ReconcileDependencies): Activities & ReconcileActivities {
  return { ...createActivities(deps), ...createReconcileActivities(deps) };
}
