import { groupBy } from '../group-by';
import { sumOfAmounts } from '../money';
import type { Finding } from './finding';
import { KIND_DOCS } from './finding-kinds';
import type { KnownPurchase } from './records';

/** The most references that an explanation names. */
const MOST_NAMED = 10;

/**
 * Finds keys that were handed over in more than one purchase. Purchases that share keys are one finding, however many keys
 * those are. Key ids of different secrets can't be compared, so the same key before and after a rotation is not found.
 */
export function sameKeys(purchases: Iterable<KnownPurchase>): Finding[] {
  const groups = groupBy(purchasesByRepeatedKey(purchases), (sharing) =>
    JSON.stringify(sharing.map(({ referenceId }) => referenceId)),
  );
  return [...groups.values()].map((group) => findingOf(group[0] ?? [], group.length));
}

/** Of each key id that several purchases have, these purchases. */
function purchasesByRepeatedKey(purchases: Iterable<KnownPurchase>): KnownPurchase[][] {
  const first = new Map<string, KnownPurchase>();
  // Almost every key id has one purchase, so lists are made only for the others.
  const repeated = new Map<string, KnownPurchase[]>();
  for (const purchase of purchases) {
    for (const keyId of new Set(Object.values(purchase.keyIds ?? {}).flat())) {
      const before = first.get(keyId);
      const sharing = repeated.get(keyId);
      if (!before) first.set(keyId, purchase);
      else if (sharing) sharing.push(purchase);
      else repeated.set(keyId, [before, purchase]);
    }
  }
  return [...repeated.values()];
}

function findingOf(purchases: readonly KnownPurchase[], keys: number): Finding {
  const sorted = purchases.toSorted((a, b) => (a.referenceId < b.referenceId ? -1 : 1));
  const named = sorted.slice(0, MOST_NAMED).map((purchase) => purchase.referenceId);
  const more = sorted.length > MOST_NAMED ? ` and ${sorted.length - MOST_NAMED} more` : '';
  const what = keys === 1 ? 'One key was' : `${keys} keys were`;
  return {
    kind: 'SAME_KEY_TWICE',
    referenceId: sorted[0]?.referenceId,
    workflowId: sorted[0]?.workflowId,
    orderIds: [...new Set(sorted.flatMap((purchase) => purchase.orderId ?? []))],
    amounts: { debited: sumOfAmounts(sorted.map((purchase) => purchase.totalDebit)) },
    explanation: `${what} handed over in ${sorted.length} purchases: ${named.join(', ')}${more}.`,
    advice: KIND_DOCS.SAME_KEY_TWICE.advice,
  };
}
