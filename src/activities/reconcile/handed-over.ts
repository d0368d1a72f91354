import type { PurchaseInput } from '../../contracts/purchase';
import { fingerprintsByProduct, keyCount, totalQuantity } from '../../domain/line-totals';
import { validatePurchase } from '../../domain/purchase-rules';
import type { KnownPurchase } from '../../domain/reconciliation/index';
import type { PurchaseReader } from '../../temporal/client';

/**
 * A purchase with what its events say was handed over. A run that was stopped has written no closing memo, and a delivery that
 * failed none either, though the checkout may have received some of it. It reads histories, so it is for single purchases.
 */
export async function withHandedOver(reader: PurchaseReader, purchase: KnownPurchase): Promise<KnownPurchase> {
  try {
    const { events, untraced } = await reader.keyEvents(purchase.referenceId, { also: [purchase] });
    const received = events.filter((event) => event.received).flatMap(({ request }) => request.lines);
    const delivered = keyCount(received);
    const mayBeDelivered = untraced !== undefined || events.some((event) => !event.received);
    if (delivered <= (purchase.delivered ?? 0)) return { ...purchase, mayBeDelivered };
    const ordered = purchase.ordered ?? (await orderedBy(reader, purchase));
    return { ...purchase, mayBeDelivered, delivered, ordered, fingerprints: fingerprintsByProduct(received) };
  } catch {
    // Whatever the reason: it is not known, and that is what the finding says then.
    return { ...purchase, mayBeDelivered: true };
  }
}

async function orderedBy(reader: PurchaseReader, run: KnownPurchase): Promise<number | undefined> {
  const input = await reader.startInput(run);
  return validatePurchase(input).length > 0 ? undefined : totalQuantity((input as PurchaseInput).items);
}
