/** Works on all, `width` at a time. The results are in the order of `all`. After the first failure nothing more is begun. */
export async function inParallel<T, R>(all: readonly T[], width: number, work: (one: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async () => {
    while (next < all.length) {
      const index = next++;
      try {
        results[index] = await work(all[index] as T);
      } catch (error) {
        next = all.length;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, all.length) }, worker));
  return results;
}
