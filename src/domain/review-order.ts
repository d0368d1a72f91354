import { groupBy } from './group-by';
import { keyCount, totalQuantity } from './key-ids';
import { toSingleLine } from './text-format';
import { isFailedOrRefunded, mayHaveKeys, type OrderLine, type OrderSnapshot } from './order';
import type { PurchaseItem } from './purchase-item';

/** Characters. */
const MAX_EXPLANATION_LENGTH = 600;

/** What an operator has accepted of an order that does not match the sale. */
export interface Accepted {
  /** The items that the operator saw. Other items, or more keys, need a new decision. */
  items?: AcceptedItem[];
  owner?: boolean;
  /** The number of surplus keys. More surplus keys need a new decision. */
  surplus?: number;
  /** Keys although these events without keys were sent to the checkout (`ReviewTerms.keylessEvents`). */
  keylessEvents?: string[];
}

/** One product of an order, as an operator accepted it. */
export interface AcceptedItem {
  productId: string;
  /** Absent if the partner showed none. */
  quantity?: number;
  keys: number;
}

/** What an order is compared with: the items that were bought, and what operators accepted of the order. */
export interface ReviewTerms {
  items: readonly PurchaseItem[];
  accepted?: Accepted;
  /** The types of events that were sent to the checkout, and after which it may have refunded the customer. */
  keylessEvents?: readonly string[] | undefined;
}

export type ComparedItems = 'all' | 'not-bought';

/** One product of a sale, with the ids of its keys. */
export interface SaleLine extends OrderLine {
  quantity: number;
}

/** Why an order must not be delivered as it is. */
export interface ReviewIssue {
  reason: 'OTHER_ITEMS' | 'ORDER_OF_ANOTHER_PURCHASE' | 'MORE_KEYS_THAN_ORDERED' | 'ORDER_CHANGES';
  explanation: string;
  /** What an operator accepts with the decision `deliver`. */
  accepts: Accepted;
}

/** The result of reviewing an order for its sale. */
export type Review =
  | { kind: 'issue'; issue: ReviewIssue }
  /** The partner ended the order without keys. */
  | { kind: 'ended'; outcome: 'FAILED' | 'REFUNDED' }
  | { kind: 'open' }
  /** `whole`: all keys that were bought are in the order. `ordered`: how many keys the order should contain. */
  | { kind: 'deliver'; lines: SaleLine[]; whole: boolean; ordered: number; reason?: string };

/**
 * Decides whether an order may be delivered, and what is delivered.
 *
 * @param compared `all` if another request may have placed the order: every difference from the sale counts. Otherwise
 *   only products and quantities that were not bought.
 */
export function reviewOrder(terms: ReviewTerms, order: OrderSnapshot, compared: ComparedItems): Review {
  const { items, accepted = {}, keylessEvents = [] } = terms;
  const { status, lines, claimedBy } = order;
  const hasKeys = mayHaveKeys(status);
  if (claimedBy !== undefined && !accepted.owner) {
    const explanation = `order ${order.orderId} also belongs to ${claimedBy}`;
    return issue({ reason: 'ORDER_OF_ANOTHER_PURCHASE', explanation, accepts: { owner: true } });
  }
  const difference =
    compared === 'all' ? differenceOf(items, lines) : hasKeys ? itemsNotBought(items, lines) : undefined;
  const otherItems = difference && accepted.items ? findUnaccepted(items, accepted.items, lines) : difference;
  if (otherItems !== undefined) {
    return issue({ reason: 'OTHER_ITEMS', explanation: otherItems, accepts: { items: productsOf(lines) } });
  }
  if (isFailedOrRefunded(status)) return { kind: 'ended', outcome: status };
  if (!hasKeys) return { kind: 'open' };
  const unaccepted = keylessEvents.filter((type) => !accepted.keylessEvents?.includes(type));
  if (unaccepted.length > 0) {
    const explanation = `the order has keys, but the checkout may already have received ${unaccepted.join(' and ')}`;
    return issue({ reason: 'ORDER_CHANGES', explanation, accepts: { keylessEvents: [...keylessEvents] } });
  }
  // Products that were not bought remain only if an operator accepted them. They are delivered as received.
  if (itemsNotBought(items, lines) !== undefined) return deliverReview(terms, order, asReceived(lines));
  const sold = items.map((item) => lineFor(item, lines));
  return surplusIssue(sold, accepted) ?? deliverReview(terms, order, sold);
}

function surplusIssue(lines: readonly SaleLine[], accepted: Accepted): Review | undefined {
  const surplus = lines.reduce((sum, line) => sum + Math.max(0, line.keyIds.length - line.quantity), 0);
  const overfull = lines.find((line) => line.keyIds.length > line.quantity);
  if (!overfull || surplus <= (accepted.surplus ?? 0)) return undefined;
  const { productId, quantity, keyIds } = overfull;
  const explanation = `the order contains ${keyIds.length} keys of ${productId}; ordered: ${quantity}`;
  return issue({ reason: 'MORE_KEYS_THAN_ORDERED', explanation, accepts: { surplus } });
}

function deliverReview(
  { items, accepted = {} }: ReviewTerms,
  { status, lines: shown }: OrderSnapshot,
  lines: SaleLine[],
): Review {
  const whole = items.every(
    (item) => keyCount(lines.filter(({ productId }) => productId === item.productId)) >= item.quantity,
  );
  const ordered = countKeysDue(items, shown, accepted);
  const [keys, bought] = [keyCount(lines), totalQuantity(items)];
  const isComplete = accepted.items !== undefined && status === 'COMPLETED' && keys >= ordered;
  const partly = isComplete
    ? `an operator accepted the order with other items; it is complete, with ${keys} keys`
    : `${status} with ${keys} of ${bought} keys`;
  return { kind: 'deliver', lines, whole, ordered, reason: whole ? undefined : partly };
}

/**
 * How many keys the order should contain: the number bought, or the number that the order shows if an operator accepted
 * its items. A surplus key of one product does not replace a missing key of another.
 */
function countKeysDue(items: readonly PurchaseItem[], shown: readonly OrderLine[], accepted: Accepted): number {
  const due = accepted.items && shown.length > 0 ? itemsDue(shown, items) : items;
  const lines = due.map((item) => lineFor(item, shown));
  const missing = lines.reduce((sum, line) => sum + Math.max(0, line.quantity - line.keyIds.length), 0);
  return missing === 0 ? totalQuantity(lines) : keyCount(lines) + missing;
}

/** If the partner shows no quantity, the quantity bought counts; if the product was not bought, the number of keys. */
function itemsDue(lines: readonly OrderLine[], items: readonly PurchaseItem[]): PurchaseItem[] {
  return productsOf(lines).map(({ productId, quantity, keys }) => {
    const bought = items.find((item) => item.productId === productId)?.quantity;
    return { productId, quantity: quantity ?? bought ?? keys };
  });
}

/** How an order's products and quantities differ from the sale, as far as the partner already shows them. */
function differenceOf(items: readonly PurchaseItem[], lines: readonly OrderLine[]): string | undefined {
  const missing = items.find((item) => !lines.some((line) => line.productId === item.productId));
  if (missing && lines.length > 0) return `the order does not contain ${missing.productId}, which was bought`;
  return itemsNotBought(items, lines);
}

function itemsNotBought(items: readonly PurchaseItem[], lines: readonly OrderLine[]): string | undefined {
  for (const { productId, quantity } of productsOf(lines)) {
    const item = items.find((candidate) => candidate.productId === productId);
    if (!item) return `the order contains ${productId}, which was not bought`;
    if (quantity !== undefined && quantity !== item.quantity) {
      return `the order contains ${quantity} of ${productId}; bought: ${item.quantity}`;
    }
  }
  return undefined;
}

function lineFor(item: PurchaseItem, lines: readonly OrderLine[]): SaleLine {
  const own = lines.filter((line) => line.productId === item.productId);
  return {
    productId: item.productId,
    title: own.find((line) => line.title !== undefined)?.title,
    quantity: item.quantity,
    keyIds: own.flatMap((line) => line.keyIds),
  };
}

function asReceived(lines: readonly OrderLine[]): SaleLine[] {
  return lines.map((line) => ({ ...line, quantity: line.quantity ?? line.keyIds.length }));
}

function issue(found: ReviewIssue): Review {
  // The explanation contains product ids from outside, so it is cleaned and shortened.
  return { kind: 'issue', issue: { ...found, explanation: toSingleLine(found.explanation, MAX_EXPLANATION_LENGTH) } };
}

/** What an order contains of each product. This is what an operator accepts. */
export function productsOf(lines: readonly OrderLine[]): AcceptedItem[] {
  return [...groupBy(lines, ({ productId }) => productId)].map(([productId, own]) => ({
    productId,
    quantity: quantityOf(own),
    keys: keyCount(own),
  }));
}

/**
 * Checks whether an order differs from what an operator accepted. Each product must have the accepted or the bought
 * quantity, and no more keys than that.
 * @returns what needs a new decision; undefined if nothing does
 */
export function findUnaccepted(
  items: readonly PurchaseItem[],
  accepted: readonly AcceptedItem[],
  lines: readonly OrderLine[],
): string | undefined {
  const acceptedById = new Map(accepted.map((item) => [item.productId, item]));
  for (const { productId, quantity, keys } of productsOf(lines)) {
    const bought = items.find((item) => item.productId === productId)?.quantity;
    const seen = acceptedById.get(productId);
    if (bought === undefined && !seen) return `the order contains ${productId}, which was neither bought nor accepted`;
    const expected = seen ? (seen.quantity ?? quantity) : bought;
    if (quantity !== undefined && quantity !== expected && quantity !== bought) {
      return `the order contains ${quantity} of ${productId}; accepted: ${expected}`;
    }
    const maxKeys = Math.max(seen?.quantity ?? bought ?? 0, seen?.keys ?? 0);
    if (keys > maxKeys) return `the order contains ${keys} keys of ${productId}; accepted: ${maxKeys}`;
  }
  return undefined;
}

/** The total quantity; undefined if a line has none. */
function quantityOf(lines: readonly OrderLine[]): number | undefined {
  if (lines.some(({ quantity }) => quantity === undefined)) return undefined;
  return lines.reduce((total, { quantity = 0 }) => total + quantity, 0);
}
