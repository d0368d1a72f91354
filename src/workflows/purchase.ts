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
import type { PurchaseInput, PurchaseResult, StatusAnswer } from '../contracts/purchase';
import { awaitOrder } from './await-order';
import { validateInput } from './guards';
import { Holds, resolveUpdate, validateDecision } from './holds';
import { deliverOutcome, reviewOutcome } from './outcome';
import { placeOrder } from './place-order';
import { localOptions } from './policies';
import { PurchaseRecord } from './purchase-record';

const { readSettings } = proxyLocalActivities<Activities>(localOptions);

/** Where the purchase stands, while it runs and after its end. */
const statusQuery = defineQuery<StatusAnswer>(STATUS_QUERY);

/**
 * One sale, from the order at the partner to the keys at the checkout.
 *
 * Business outcomes are results. A failed purchase means that its input was invalid (`InvalidPurchase`) or a bug.
 * A cancel request takes effect while nothing can have been bought, and is only noted afterwards.
 *
 * Few async functions, and none that is awaited without need: each promise of a workflow costs its worker 0.07 ms, for the stack trace
 * that Temporal's UI may ask for (docs/benchmarks.md).
 *
 * @param input one reference of the checkout with what was sold under it.
 * @returns how it ended, see `PurchaseResult`.
 */
export async function purchaseWorkflow(input: PurchaseInput): Promise<PurchaseResult> {
  const purchase = new PurchaseRecord(validateInput(input));
  // Before the first await: an update of the first activation without a handler would be rejected and leave no record.
  const holds = new Holds(purchase);
  setHandler(resolveUpdate, (decision) => holds.resolve(decision), {
    validator: validateDecision,
    description: 'A decision on the hold. The command `resolve` sends it; it names the hold that it answers.',
  });
  setHandler(statusQuery, () => purchase.answer(), {
    description: 'Where the purchase stands, and what it waits for.',
  });
  CancellationScope.current().cancelRequested.catch(() => purchase.noteCancelRequest());

  return CancellationScope.nonCancellable(async () => {
    purchase.open(await readSettings.executeWithOptions({ summary: 'the settings' }, []));
    const placement = await placeOrder(purchase, holds);
    const outcome =
      placement.kind === 'order'
        ? await reviewOutcome(purchase, holds, await awaitOrder(purchase, placement), !placement.adopted)
        : placement.outcome;
    const result = purchase.close(await deliverOutcome(purchase, holds, outcome));
    await purchase.alertsEnded();
    if (!allHandlersFinished()) await condition(allHandlersFinished);
    return result;
  });
}
