/** The ids of keys by product. Products without a key are left out. */
export type KeyIds = Record<string, string[]>;

/** How many pieces were ordered. */
export function totalQuantity(lines: readonly { quantity: number }[]): number {
  return lines.reduce((total, { quantity }) => total + quantity, 0);
}

/** How many keys there are. */
export function keyCount(lines: readonly { keyIds: readonly string[] }[]): number {
  return lines.reduce((total, { keyIds }) => total + keyIds.length, 0);
}

/** The ids of the keys of all lines, by product. */
export function keyIdsOf(lines: readonly { productId: string; keyIds: readonly string[] }[]): KeyIds {
  return unionOfKeys(...lines.map(({ productId, keyIds }) => ({ [productId]: [...keyIds] })));
}

/** The ids of all keys that any of them names, each once. An id names one key of one product for ever. */
export function unionOfKeys(...all: readonly KeyIds[]): KeyIds {
  const products = new Map<string, Set<string>>();
  for (const [productId, keyIds] of all.flatMap((one) => Object.entries(one))) {
    if (keyIds.length === 0) continue;
    const ids = products.get(productId) ?? new Set();
    for (const id of keyIds) ids.add(id);
    products.set(productId, ids);
  }
  return Object.fromEntries([...products].map(([productId, ids]) => [productId, [...ids]]));
}

/** The ids of `some` that `all` lacks, of whatever product. */
export function missingKeys(some: KeyIds, all: KeyIds): string[] {
  return Object.entries(some).flatMap(([productId, keyIds]) => {
    // A product may be called `constructor`, as a property that every object inherits.
    const there = new Set(Object.hasOwn(all, productId) ? all[productId] : []);
    return keyIds.filter((id) => !there.has(id));
  });
}
