/**
 * Processes all items, at most `concurrency` at once, and returns the results in the order of the items. After the
 * first failure nothing more starts. The failure is thrown once the running items have ended, so that a retry can't
 * overlap.
 */
export async function inParallel<T, R>(
  items: readonly T[],
  concurrency: number,
  work: (one: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const failures: unknown[] = [];
  let next = 0;
  const worker = async () => {
    while (next < items.length && failures.length === 0) {
      const index = next++;
      try {
        results[index] = await work(items[index] as T);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker));
  if (failures.length > 0) throw failures[0];
  return results;
}
