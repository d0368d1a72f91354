/** Works on all, `width` at a time. The results are in the order of `all`. The first failure ends it. */
export async function inParallel<T, R>(all: readonly T[], width: number, work: (one: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async () => {
    while (next < all.length) {
      const index = next++;
      results[index] = await work(all[index] as T);
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, all.length) }, worker));
  return results;
}
