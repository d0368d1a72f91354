/**
 * Processes all items, `width` at a time, and returns the results in their order. After the first failure nothing more
 * starts. The failure is thrown when the running items have ended, so that a retry does not overlap with them.
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
