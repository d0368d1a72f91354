/** The error at the end of the chain of causes: what Temporal wraps says only where it happened. */
export function rootCauseOf(error: Error): Error {
  return error.cause instanceof Error ? rootCauseOf(error.cause) : error;
}
