import { sumOfAmounts } from '../money';
import type { Finding, KnownPurchase } from './records';
import { KIND_DOCS } from './finding-kinds';

/**
 * Finds keys that were handed over in more than one purchase. Purchases that share the same keys are one finding, however many
 * those are. Fingerprints of different secrets can't be compared, so a key on both sides of a rotation goes unseen.
 */
export function sameKeys(purchases: Iterable<KnownPurchase>): Finding[] {
  const owners = ownersOfRepeated(purchases);
  const groups = new Map<string, { owners: KnownPurchase[]; keys: number }>();
  for (const owner of owners.values()) {
    const name = JSON.stringify(owner.map((purchase) => purchase.referenceId));
    const group = groups.get(name);
    if (group) group.keys += 1;
    else groups.set(name, { owners: owner, keys: 1 });
  }
  return [...groups.values()].map((group) => sharedBy(group.owners, group.keys));
}

/** Most fingerprints have one owner, so a list is made only for the others. */
function ownersOfRepeated(purchases: Iterable<KnownPurchase>): Map<string, KnownPurchase[]> {
  const first = new Map<string, KnownPurchase>();
  const repeated = new Map<string, KnownPurchase[]>();
  for (const purchase of purchases) {
    for (const fingerprint of Object.values(purchase.fingerprints ?? {}).flat()) {
      const owner = first.get(fingerprint);
      if (!owner) first.set(fingerprint, purchase);
      else if (owner !== purchase) addOwner(repeated, fingerprint, owner, purchase);
    }
  }
  return repeated;
}

function addOwner(
  repeated: Map<string, KnownPurchase[]>,
  key: string,
  first: KnownPurchase,
  next: KnownPurchase,
): void {
  const owners = repeated.get(key);
  if (!owners) repeated.set(key, [first, next]);
  else if (owners.at(-1) !== next) owners.push(next);
}

const SHOWN = 10;

function sharedBy(owners: readonly KnownPurchase[], keys: number): Finding {
  const sorted = owners.toSorted((a, b) => (a.referenceId < b.referenceId ? -1 : 1));
  const [first] = sorted;
  const shown = sorted.slice(0, SHOWN).map((purchase) => purchase.referenceId);
  const more = sorted.length > SHOWN ? ` and ${sorted.length - SHOWN} more` : '';
  const what = keys === 1 ? 'One key was' : `${keys} keys were`;
  return {
    kind: 'SAME_KEY_TWICE',
    ...(first && { referenceId: first.referenceId, workflowId: first.workflowId }),
    orderIds: [...new Set(sorted.flatMap((purchase) => purchase.orderId ?? []))],
    amounts: { debited: sumOfAmounts(sorted.map((purchase) => purchase.totalDebit)) },
    explanation: `${what} handed over in ${sorted.length} purchases: ${shown.join(', ')}${more}.`,
    advice: KIND_DOCS.SAME_KEY_TWICE.advice,
  };
}
