/**
 * Works on all, `width` at a time. The results are in the order of `all`. After the first failure nothing more is begun, and it is
 * thrown when what is under way has ended: a caller that tries again must not meet it.
 */
export async function inParallel<T, R>(all: readonly T[], width: number, work: (one: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const failures: unknown[] = [];
  let next = 0;
  const worker = async () => {
    while (next < all.length && failures.length === 0) {
      const index = next++;
      try {
        results[index] = await work(all[index] as T);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, all.length) }, worker));
  if (failures.length > 0) throw failures[0];
  return results;
}
