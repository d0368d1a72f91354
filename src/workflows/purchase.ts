import { allHandlersFinished, CancellationScope, condition, defineQuery, setHandler } from '@temporalio/workflow';
import { STATUS_QUERY } from '../contracts/names';
import type { PurchaseInput, PurchaseResult } from '../contracts/purchase';
import type { StatusAnswer } from '../contracts/status-answer';
import { awaitOrder } from './await-order';
import { Holds, resolveUpdate, validateDecision } from './holds';
import { notifyCheckout } from './notify-checkout';
import { OrderChanges } from './order-changes';
import { placeOrder } from './place-order';
import type { PlacedOrder } from './placement-step';
import { Progress } from './progress';
import { openPurchase, type OutcomeDetails, type PurchaseRecord } from './purchase-record';
import { reviewOrder } from './review-order';
import { validateInput } from './validate-input';

/** Where the purchase stands, while it runs and after its end. */
const statusQuery = defineQuery<StatusAnswer>(STATUS_QUERY);

/**
 * One sale, from the order at the partner to the keys at the checkout.
 *
 * Business outcomes are results. A failed purchase means that its input was invalid (`InvalidPurchase`) or a bug.
 * A cancel request takes effect where nothing can have been bought, and is noted everywhere else.
 *
 * @param input one reference of the checkout with what was sold under it.
 * @returns how it ended, see `PurchaseResult`.
 */
export async function purchaseWorkflow(input: PurchaseInput): Promise<PurchaseResult> {
  validateInput(input);
  // Before the first await: an update of the first activation without a handler would be rejected and leave no record.
  const holds = new Holds();
  setHandler(resolveUpdate, (decision) => holds.resolve(decision), {
    validator: validateDecision,
    description: 'A decision on the hold. `resolve` of the starter sends it; it names the hold that it answers.',
  });
  const orderChanges = new OrderChanges();
  const progress = new Progress(input);
  setHandler(statusQuery, () => progress.answer(), {
    description: 'Where the purchase stands, and what it waits for.',
  });
  observeCancelRequest(progress);

  return CancellationScope.nonCancellable(async () => {
    const purchase = await openPurchase(input, progress, orderChanges);
    const placement = await placeOrder(purchase, holds);
    const outcome = placement.kind === 'order' ? await awaitAndReview(purchase, holds, placement) : placement.outcome;
    const notified = await notifyCheckout(purchase, holds, outcome);
    await condition(allHandlersFinished);
    return purchase.close(notified);
  });
}

async function awaitAndReview(purchase: PurchaseRecord, holds: Holds, placed: PlacedOrder): Promise<OutcomeDetails> {
  purchase.noteOrder(placed.orderId);
  const order = await awaitOrder(purchase, placed);
  return reviewOrder(purchase, holds, order, placed.adopted);
}

function observeCancelRequest(progress: Progress): void {
  CancellationScope.current().cancelRequested.catch(() => progress.noteCancelRequest());
}
