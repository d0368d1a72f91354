import { allHandlersFinished, CancellationScope, condition } from '@temporalio/workflow';
import type { PurchaseInput, PurchaseResult } from '../contracts/purchase';
import { closePurchase, openPurchase } from './purchase-record';
import { fulfil } from './review-order';
import { place } from './place-order';
import { refuseWhatIsNoPurchase } from './validate-input';

/**
 * One sale, from the order at the partner to the keys at the checkout.
 *
 * Business outcomes are results. A failed purchase means that it never was one (`InvalidPurchase`) or a bug.
 * A cancel is a wish, not an order: it is heard where nothing can have been bought, and noted everywhere else.
 *
 * @param input one reference of the checkout with what was sold under it.
 * @returns how it ended, see `PurchaseResult`.
 */
export async function purchaseWorkflow(input: PurchaseInput): Promise<PurchaseResult> {
  refuseWhatIsNoPurchase(input);
  const wish = CancellationScope.current().cancelRequested;

  return CancellationScope.nonCancellable(async () => {
    const purchase = await openPurchase(input, wish);
    const placement = await place(purchase);
    const ending = await fulfil(purchase, placement);
    await condition(allHandlersFinished);
    return closePurchase(purchase, ending);
  });
}
