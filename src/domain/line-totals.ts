/** How many pieces were ordered. */
export function totalQuantity(lines: readonly { quantity: number }[]): number {
  return lines.reduce((total, { quantity }) => total + quantity, 0);
}

/** How many keys there are, by their fingerprints. */
export function keyCount(lines: readonly { fingerprints: readonly string[] }[]): number {
  return lines.reduce((total, { fingerprints }) => total + fingerprints.length, 0);
}

/** The fingerprints of the keys by product, of every line of it. Products without a key are left out. */
export function fingerprintsByProduct(
  lines: readonly { productId: string; fingerprints: readonly string[] }[],
): Record<string, string[]> {
  const products = new Map<string, string[]>();
  for (const { productId, fingerprints } of lines) {
    if (fingerprints.length > 0) products.set(productId, [...(products.get(productId) ?? []), ...fingerprints]);
  }
  return Object.fromEntries(products);
}
