import type { Activities } from '../contracts/activities';
import type { ReconcileActivities } from '../contracts/reconciliation';
import { createCheckOrderActivities } from './check-order';
import { createDeliveryActivities } from './deliver-sale';
import { ownRunId } from './dependencies';
import { createFindOrdersActivities } from './find-orders';
import { createPlaceOrderActivities } from './place-order';
import { createPollOrderActivities } from './poll-order';
import { createReadEndedPurchaseActivities } from './read-ended-purchase';
import { createReconcileActivities, type ReconcileDependencies } from './reconcile';
import { onlyForOwnWorkflows } from './allowed-workflows';

export { createCircuitBreaker } from './circuit-breaker';
export { createHistoryWatch } from './history-watch';
export { createLogContext } from './log-context';

/** Builds all activities of a worker. None of them returns a key to Temporal. */
export function createActivities(deps: ReconcileDependencies): Activities & ReconcileActivities {
  return onlyForOwnWorkflows({
    async readSettings() {
      return { settings: deps.settings, fingerprintSecretId: deps.fingerprints.newestId() };
    },
    async readRunId() {
      return { runId: ownRunId() ?? '' };
    },
    ...createPlaceOrderActivities(deps),
    ...createFindOrdersActivities(deps),
    ...createPollOrderActivities(deps),
    ...createCheckOrderActivities(deps),
    ...createReadEndedPurchaseActivities(deps),
    ...createDeliveryActivities(deps),
    ...createReconcileActivities(deps),
  });
}
