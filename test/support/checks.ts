/** The error that a promise rejects with, or undefined. */
export function rejectionOf<E = Error>(work: Promise<unknown>): Promise<E | undefined> {
  return work.then(
    () => undefined,
    (error: E) => error,
  );
}
