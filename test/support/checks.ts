/** What something fails with, or undefined. */
export function rejectionOf<E = Error>(work: Promise<unknown>): Promise<E | undefined> {
  return work.then(
    () => undefined,
    (error: E) => error,
  );
}
