import { groupBy } from './group-by';
import { keyCount } from './line-totals';
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

/** What was bought, and what operators have accepted of the order that came of it. */
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
 * What an operator has to decide about the items of an order, in one sentence. Where its items were accepted, it may hold of each
 * product what was accepted or what was bought, and no more keys than that.
 *
 * @param difference how its items differ from what was bought; undefined if they don't.
 * @returns undefined if there is nothing to decide.
 */
export function itemsIssue(
  difference: string | undefined,
  { items, accepted = {} }: Bought,
  lines: readonly OrderLine[],
): string | undefined {
  if (difference === undefined || !accepted.items) return difference;
  const acceptedById = new Map(accepted.items.map((item) => [item.productId, item]));
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

/** The quantity of a product, by all its lines; undefined where one shows none. */
function quantityOf(lines: readonly OrderLine[]): number | undefined {
  let total = 0;
  for (const { quantity } of lines) {
    if (quantity === undefined) return undefined;
    total += quantity;
  }
  return total;
}
