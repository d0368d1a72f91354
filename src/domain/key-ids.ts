/** Key ids by product id. Products without keys are left out. */
export type KeyIds = Record<string, string[]>;

export function totalQuantity(lines: readonly { quantity: number }[]): number {
  return lines.reduce((total, { quantity }) => total + quantity, 0);
}

export function keyCount(lines: readonly { keyIds: readonly string[] }[]): number {
  return lines.reduce((total, { keyIds }) => total + keyIds.length, 0);
}

export function countKeyIds(keyIds: KeyIds = {}): number {
  return Object.values(keyIds).flat().length;
}

/** The key ids of all lines, by product. */
export function keyIdsOf(lines: readonly { productId: string; keyIds: readonly string[] }[]): KeyIds {
  return unionOfKeyIds(...lines.map(({ productId, keyIds }) => ({ [productId]: [...keyIds] })));
}

/** Merges key ids and keeps each once. */
export function unionOfKeyIds(...all: readonly KeyIds[]): KeyIds {
  const products = new Map<string, Set<string>>();
  for (const [productId, keyIds] of all.flatMap((one) => Object.entries(one))) {
    if (keyIds.length === 0) continue;
    const ids = products.get(productId) ?? new Set();
    for (const id of keyIds) ids.add(id);
    products.set(productId, ids);
  }
  return Object.fromEntries([...products].map(([productId, ids]) => [productId, [...ids]]));
}

/** The ids in `some` that are missing from `all`. */
export function missingKeyIds(some: KeyIds, all: KeyIds): string[] {
  return Object.entries(some).flatMap(([productId, keyIds]) => {
    // `hasOwn`, because a product id may be `constructor`.
    const present = new Set(Object.hasOwn(all, productId) ? all[productId] : []);
    return keyIds.filter((id) => !present.has(id));
  });
}

/** Whether both contain the same ids. */
export function hasSameKeyIds(one: KeyIds, other: KeyIds): boolean {
  return missingKeyIds(one, other).length === 0 && missingKeyIds(other, one).length === 0;
}
