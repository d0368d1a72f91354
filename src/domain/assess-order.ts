import { type Accepted, productsOf } from './accepted';
import { keyCount, totalQuantity } from './line-totals';
import type { OrderLine, OrderSnapshot, PurchaseItem } from './order';
import { isFailedOrRefunded, mayHaveKeys } from './order';

/** One product of an event, with the fingerprints of the keys that it hands over. */
export interface EventLine extends OrderLine {
  quantity: number;
}

/**
 * What an order means for the purchase that waits for it.
 *
 * - `hand-over`: the keys of `lines` are to be handed over; `whole` if that is everything that was ordered.
 * - `nothing`: the partner ended the order without goods.
 * - `open`: the status allows nothing yet.
 * - `other-items`, `more-keys`: an operator must decide. `lines` is what would be handed over; `surplus`: so many keys too many.
 */
export type OrderAssessment =
  | { kind: 'hand-over'; whole: boolean; lines: EventLine[]; reason?: string }
  | { kind: 'nothing'; outcome: 'FAILED' | 'REFUNDED' }
  | { kind: 'open' }
  | { kind: 'other-items'; lines: EventLine[]; reason: string }
  | { kind: 'more-keys'; lines: EventLine[]; surplus: number; reason: string };

/** Compares an order with what was bought. */
export function assessOrder(items: readonly PurchaseItem[], order: OrderSnapshot): OrderAssessment {
  const { status } = order;
  if (isFailedOrRefunded(status)) return { kind: 'nothing', outcome: status };
  if (!mayHaveKeys(status)) return { kind: 'open' };

  const foreign = foreignItems(items, order.lines);
  if (foreign) return { kind: 'other-items', lines: asReceived(order.lines), reason: foreign };

  const lines = items.map((item) => lineFor(item, order.lines));
  const fuller = lines.find((line) => line.fingerprints.length > line.quantity);
  if (fuller) {
    const { productId, quantity, fingerprints } = fuller;
    const surplus = lines.reduce((sum, line) => sum + Math.max(0, line.fingerprints.length - line.quantity), 0);
    const reason = `${fingerprints.length} keys came for ${productId}, of which ${quantity} were ordered`;
    return { kind: 'more-keys', lines, surplus, reason };
  }
  const ordered = totalQuantity(lines);
  const there = keyCount(lines);
  if (there === ordered) return { kind: 'hand-over', whole: true, lines };
  return { kind: 'hand-over', whole: false, lines, reason: `${status} with ${there} of ${ordered} keys` };
}

/**
 * The lines of an order that is COMPLETED with exactly the ordered keys, and of this purchase alone; undefined of any other. What
 * is handed over of it is the same whenever it is read.
 */
export function exactLines(items: readonly PurchaseItem[], order: OrderSnapshot): EventLine[] | undefined {
  if (order.status !== 'COMPLETED' || (order.claimedBy ?? undefined) !== undefined) return undefined;
  const assessment = assessOrder(items, order);
  return assessment.kind === 'hand-over' && assessment.whole ? assessment.lines : undefined;
}

/**
 * Compares an order that was found in the order history with what a purchase asked for: the same products in the same
 * quantities, as far as the partner shows them yet.
 *
 * @returns the difference in one sentence, for an operator to decide on; undefined if there is none.
 */
export function differenceOf(items: readonly PurchaseItem[], lines: readonly OrderLine[]): string | undefined {
  const missing = items.find((item) => !lines.some((line) => line.productId === item.productId));
  if (missing && lines.length > 0) return `the order does not hold ${missing.productId}, which this purchase asked for`;
  return foreignItems(items, lines);
}

/**
 * How many keys an order is to bring: what was bought, or what the order holds where an operator has accepted its items. A
 * key too many of one product makes up for no missing one of another.
 */
export function keysDue(items: readonly PurchaseItem[], order: OrderSnapshot, accepted: Accepted): number {
  const due = accepted.items && order.lines.length > 0 ? itemsOf(order, items) : items;
  const lines = due.map((item) => lineFor(item, order.lines));
  const missing = lines.reduce((sum, line) => sum + Math.max(0, line.quantity - line.fingerprints.length), 0);
  return missing === 0 ? totalQuantity(lines) : keyCount(lines) + missing;
}

/** Where the partner shows no quantity of a product, it is what was bought of it, else what is there. */
function itemsOf({ lines }: OrderSnapshot, items: readonly PurchaseItem[]): PurchaseItem[] {
  return productsOf(lines).map(({ productId, quantity, keys }) => {
    const bought = items.find((item) => item.productId === productId)?.quantity;
    return { productId, quantity: quantity ?? bought ?? keys };
  });
}

function foreignItems(items: readonly PurchaseItem[], lines: readonly OrderLine[]): string | undefined {
  for (const { productId, quantity } of productsOf(lines)) {
    const item = items.find((candidate) => candidate.productId === productId);
    if (!item) return `the order holds ${productId}, which this purchase did not ask for`;
    if (quantity !== undefined && quantity !== item.quantity) {
      return `the order holds ${quantity} of ${productId}, this purchase asked for ${item.quantity}`;
    }
  }
  return undefined;
}

function lineFor(item: PurchaseItem, lines: readonly OrderLine[]): EventLine {
  const own = lines.filter((line) => line.productId === item.productId);
  return {
    productId: item.productId,
    title: own.find((line) => line.title !== undefined)?.title,
    quantity: item.quantity,
    fingerprints: own.flatMap((line) => line.fingerprints),
  };
}

function asReceived(lines: readonly OrderLine[]): EventLine[] {
  return lines.map((line) => ({ ...line, quantity: line.quantity ?? line.fingerprints.length }));
}
