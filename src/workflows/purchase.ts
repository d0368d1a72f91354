import {
  allHandlersFinished,
  CancellationScope,
  condition,
  defineQuery,
  proxyLocalActivities,
  setHandler,
} from '@temporalio/workflow';
import type { Activities } from '../contracts/activities';
import { STATUS_QUERY } from '../contracts/names';
import type { PurchaseInput, PurchaseResult, StatusQueryResult } from '../contracts/purchase';
import { awaitOrder } from './await-order';
import { validatePurchaseInput } from './guards';
import { Holds, resolveUpdate, validateDecision } from './holds';
import { decideOutcome, deliverOutcome } from './outcome';
import { placeOrder } from './place-order';
import { localOptions } from './policies';
import { type OutcomeDetails, PurchaseRecord } from './purchase-record';

const { readSettings } = proxyLocalActivities<Activities>(localOptions);

/** The current state of the purchase, while it runs and after it has ended. */
const statusQuery = defineQuery<StatusQueryResult>(STATUS_QUERY);

/**
 * One sale, from the order at the partner to the keys at the checkout.
 *
 * Business outcomes are results. A failed purchase means invalid input (`InvalidPurchase`) or a bug. A cancel request
 * ends the purchase only while no order can exist; later, it is only noted in the result.
 *
 * Use async functions sparingly: each promise in a workflow costs the worker 0.07 ms, because the SDK records its stack
 * trace for the Temporal UI (docs/performance.md).
 *
 * @param input the checkout's reference and the items that were sold under it.
 * @returns how the purchase ended; see `PurchaseResult`.
 */
export async function purchaseWorkflow(input: PurchaseInput): Promise<PurchaseResult> {
  const purchase = new PurchaseRecord(validatePurchaseInput(input));
  // Set before the first await: without a handler, an update in the first activation would be rejected without a trace.
  const holds = new Holds(purchase);
  setHandler(resolveUpdate, (decision) => holds.resolve(decision), {
    validator: validateDecision,
    description: 'Resolves the open hold with the given id. The command `npx fulfilment resolve` sends this update.',
  });
  setHandler(statusQuery, () => purchase.statusQueryResult(), {
    description: 'The state of the purchase, and what it is waiting for.',
  });
  CancellationScope.current().cancelRequested.catch(() => purchase.noteCancelRequest());

  return CancellationScope.nonCancellable(async () => {
    purchase.begin(await readSettings.executeWithOptions({ summary: 'read the settings' }, []));
    const placement = await placeOrder(purchase, holds);
    let outcome: OutcomeDetails;
    if (placement.kind === 'order') {
      const { orderId, adopted } = placement;
      // An adopted order may be old, large and someone else's: no local poll, and all its items are compared.
      const order = await awaitOrder(purchase, orderId, adopted ? 'scheduled' : 'local');
      outcome = await decideOutcome(purchase, holds, order, adopted ? 'all' : 'not-bought');
    } else {
      outcome = placement.outcome;
    }
    const result = purchase.close(await deliverOutcome(purchase, holds, outcome));
    await purchase.awaitAttentionNotices();
    if (!allHandlersFinished()) await condition(allHandlersFinished);
    return result;
  });
}
