import { activityInfo } from '@temporalio/activity';
import type { Activities } from '../contracts/activities';
import { FAILURE } from '../contracts/failures';
import { DELIVER_WORKFLOW, PURCHASE_WORKFLOW, RECONCILE_WORKFLOW } from '../contracts/names';
import type { ReconcileActivities } from '../contracts/reconciliation';
import { failure } from './failures';

type AllActivities = Activities & ReconcileActivities;

/** The workflow types that may start each activity. */
const ALLOWED_WORKFLOWS: Record<keyof AllActivities, readonly string[]> = {
  readSettings: [PURCHASE_WORKFLOW, DELIVER_WORKFLOW],
  readRunId: [PURCHASE_WORKFLOW],
  placeOrder: [PURCHASE_WORKFLOW],
  findOrders: [PURCHASE_WORKFLOW],
  pollUntilEnded: [PURCHASE_WORKFLOW],
  pollOrder: [PURCHASE_WORKFLOW],
  checkOrder: [PURCHASE_WORKFLOW],
  readEndedPurchase: [DELIVER_WORKFLOW],
  deliverSale: [PURCHASE_WORKFLOW, DELIVER_WORKFLOW],
  deliverNotice: [PURCHASE_WORKFLOW, DELIVER_WORKFLOW],
  reconcileOrders: [RECONCILE_WORKFLOW],
};

/**
 * Refuses activities that our own workflows did not start. Otherwise any Temporal client could place an order or have
 * an event signed.
 *
 * @returns the same activities. Started by anything else, they fail with a non-retryable `WrongWorkflow`.
 */
export function onlyForOwnWorkflows(activities: AllActivities): AllActivities {
  const guarded = Object.entries(activities).map(([name, run]: [string, (input: never) => Promise<unknown>]) => [
    name,
    async (input: never) => {
      const { workflowType = '' } = activityInfo();
      if (ALLOWED_WORKFLOWS[name as keyof AllActivities].includes(workflowType)) return run(input);
      throw failure(FAILURE.wrongWorkflow, `${name} must not be started by ${workflowType || 'a client'}`, {
        final: true,
      });
    },
  ]);
  return Object.fromEntries(guarded) as AllActivities;
}
