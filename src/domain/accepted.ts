import { keyCount } from './line-totals';
import { groupBy } from './group-by';
import type { OrderLine, PurchaseItem } from './order';

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
 * was bought, and no more keys than that.
 *
 * @returns what the operator has to decide, in one sentence; undefined if there is nothing to decide.
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
  let total = 0;
  for (const { quantity } of lines) {
    if (quantity === undefined) return undefined;
    total += quantity;
  }
  return total;
}
