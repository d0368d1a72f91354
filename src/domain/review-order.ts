import { groupBy } from './group-by';
import { keyCount, totalQuantity } from './line-totals';
import { inOneLine } from './texts';
import { isFailedOrRefunded, mayHaveKeys, type OrderLine, type OrderSnapshot, type PurchaseItem } from './order';

const LONGEST_EXPLANATION = 600;

/** What an operator has accepted of an order that is not as it should be. */
export interface Accepted {
  /** Its items, as the operator was shown them. Others, and more keys of one, are asked about again. */
  items?: AcceptedItem[];
  owner?: boolean;
  /** How many keys too many; any more are asked about again. */
  surplus?: number;
}

/** One product of an order whose items an operator has accepted, as it was then. */
export interface AcceptedItem {
  productId: string;
  /** As the partner showed it; absent if it showed none. */
  quantity?: number;
  keys: number;
}

/** What was bought, and what operators have accepted of its order. */
export interface Bought {
  items: readonly PurchaseItem[];
  accepted?: Accepted;
}

/** One product of a sale, with the ids of its keys. */
export interface SaleLine extends OrderLine {
  quantity: number;
}

/** Why an order must not be delivered as it is. */
export interface ReviewIssue {
  reason: 'OTHER_ITEMS' | 'ORDER_OF_ANOTHER_PURCHASE' | 'MORE_KEYS_THAN_ORDERED';
  explanation: string;
  /** What an operator accepts by letting it be delivered all the same. */
  accepts: Accepted;
}

/** What an order means for its sale. */
export type Review =
  | { kind: 'issue'; issue: ReviewIssue }
  /** The partner ended the order without goods. */
  | { kind: 'ended'; outcome: 'FAILED' | 'REFUNDED' }
  /** Nothing follows from its status yet. */
  | { kind: 'open' }
  /** `whole`: everything that was bought is there. `ordered`: how many keys the order is to bring. */
  | { kind: 'deliver'; lines: SaleLine[]; whole: boolean; ordered: number; reason?: string };

/**
 * Reviews an order: may it be delivered, and what of it? One that is not the answer to our own request is compared with the sale in
 * every respect.
 */
export function reviewOrder(bought: Bought, order: OrderSnapshot, isAnswer: boolean): Review {
  const { items, accepted = {} } = bought;
  const { status, lines, claimedBy } = order;
  const hasKeys = mayHaveKeys(status);
  if (claimedBy !== undefined && !accepted.owner) {
    const explanation = `order ${order.orderId} also belongs to ${claimedBy}`;
    return issue({ reason: 'ORDER_OF_ANOTHER_PURCHASE', explanation, accepts: { owner: true } });
  }
  const difference = !isAnswer ? differenceOf(items, lines) : hasKeys ? foreignItems(items, lines) : undefined;
  const otherItems = difference && accepted.items ? beyondAccepted(items, accepted.items, lines) : difference;
  if (otherItems !== undefined) {
    return issue({ reason: 'OTHER_ITEMS', explanation: otherItems, accepts: { items: productsOf(lines) } });
  }
  if (isFailedOrRefunded(status)) return { kind: 'ended', outcome: status };
  if (!hasKeys) return { kind: 'open' };
  // Products that nobody bought and an operator has accepted are delivered as they came.
  if (foreignItems(items, lines) !== undefined) return delivery(bought, order, asReceived(lines));
  const sold = items.map((item) => lineFor(item, lines));
  return surplusIssue(sold, accepted) ?? delivery(bought, order, sold);
}

function surplusIssue(lines: readonly SaleLine[], accepted: Accepted): Review | undefined {
  const surplus = lines.reduce((sum, line) => sum + Math.max(0, line.keyIds.length - line.quantity), 0);
  const fuller = lines.find((line) => line.keyIds.length > line.quantity);
  if (!fuller || surplus <= (accepted.surplus ?? 0)) return undefined;
  const { productId, quantity, keyIds } = fuller;
  const explanation = `${keyIds.length} keys came for ${productId}, of which ${quantity} were ordered`;
  return issue({ reason: 'MORE_KEYS_THAN_ORDERED', explanation, accepts: { surplus } });
}

function delivery(
  { items, accepted = {} }: Bought,
  { status, lines: shown }: OrderSnapshot,
  lines: SaleLine[],
): Review {
  const whole = items.every(
    (item) => keyCount(lines.filter(({ productId }) => productId === item.productId)) >= item.quantity,
  );
  const reason = whole ? undefined : `${status} with ${keyCount(lines)} of ${totalQuantity(items)} keys`;
  return { kind: 'deliver', lines, whole, ordered: keysDue(items, shown, accepted), reason };
}

/**
 * How many keys an order is to bring: what was bought, or what the order holds if an operator has accepted its items. A key too
 * many of one product makes up for no missing one of another.
 */
function keysDue(items: readonly PurchaseItem[], shown: readonly OrderLine[], accepted: Accepted): number {
  const due = accepted.items && shown.length > 0 ? itemsOf(shown, items) : items;
  const lines = due.map((item) => lineFor(item, shown));
  const missing = lines.reduce((sum, line) => sum + Math.max(0, line.quantity - line.keyIds.length), 0);
  return missing === 0 ? totalQuantity(lines) : keyCount(lines) + missing;
}

/** If the partner shows no quantity of a product, it is what was bought of it, otherwise what is there. */
function itemsOf(lines: readonly OrderLine[], items: readonly PurchaseItem[]): PurchaseItem[] {
  return productsOf(lines).map(({ productId, quantity, keys }) => {
    const bought = items.find((item) => item.productId === productId)?.quantity;
    return { productId, quantity: quantity ?? bought ?? keys };
  });
}

/** How an order differs from what was bought, as far as the partner shows it yet: products and quantities. */
function differenceOf(items: readonly PurchaseItem[], lines: readonly OrderLine[]): string | undefined {
  const missing = items.find((item) => !lines.some((line) => line.productId === item.productId));
  if (missing && lines.length > 0) return `the order does not hold ${missing.productId}, which this purchase asked for`;
  return foreignItems(items, lines);
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
  // It names products of the checkout, whose ids are kept as they are.
  return { kind: 'issue', issue: { ...found, explanation: inOneLine(found.explanation, LONGEST_EXPLANATION) } };
}

/** What an order holds of each product, in the order of its lines: what an operator accepts who accepts its items. */
export function productsOf(lines: readonly OrderLine[]): AcceptedItem[] {
  return [...groupBy(lines, ({ productId }) => productId)].map(([productId, own]) => ({
    productId,
    quantity: quantityOf(own),
    keys: keyCount(own),
  }));
}

/**
 * Whether an order whose items an operator has accepted holds more by now: of each product it may hold what was accepted or what
 * was bought, and no more keys than that. @returns what the operator has to decide, in one sentence; undefined if nothing
 */
export function beyondAccepted(
  items: readonly PurchaseItem[],
  accepted: readonly AcceptedItem[],
  lines: readonly OrderLine[],
): string | undefined {
  const acceptedById = new Map(accepted.map((item) => [item.productId, item]));
  for (const { productId, quantity, keys } of productsOf(lines)) {
    const bought = items.find((item) => item.productId === productId)?.quantity;
    const seen = acceptedById.get(productId);
    if (bought === undefined && !seen) return `the order holds ${productId}, which nobody has bought or accepted`;
    const expected = seen ? (seen.quantity ?? quantity) : bought;
    if (quantity !== undefined && quantity !== expected && quantity !== bought) {
      return `the order holds ${quantity} of ${productId}, of which ${expected} were accepted`;
    }
    const most = Math.max(seen?.quantity ?? bought ?? 0, seen?.keys ?? 0);
    if (keys > most) return `${keys} keys came for ${productId}, of which ${most} were accepted`;
  }
  return undefined;
}

/** The quantity of a product over all its lines; undefined if one of them shows none. */
function quantityOf(lines: readonly OrderLine[]): number | undefined {
  if (lines.some(({ quantity }) => quantity === undefined)) return undefined;
  return lines.reduce((total, { quantity = 0 }) => total + quantity, 0);
}
