/** The longest pause in milliseconds that anybody may ask for. */
export const LONGEST_RETRY_AFTER_MS = 3_600_000;

/**
 * The pause in milliseconds that a Retry-After header asks for in seconds or by an HTTP date (which ends with GMT), at most one hour.
 * Undefined for anything else, also for a date that has passed: a clock that is slow over there must not make us hasty.
 */
export function parseRetryAfter(header: unknown, nowMs: number): number | undefined {
  if (typeof header !== 'string') return undefined;
  if (/^\d+$/.test(header)) return Math.min(Number(header) * 1_000, LONGEST_RETRY_AFTER_MS);
  // oxlint-disable-next-line no-restricted-globals -- reads the date that is written, and no clock
  const ms = /^[A-Z][a-z]+, .+ GMT$/.test(header) ? Date.parse(header) - nowMs : NaN;
  return ms >= 0 ? Math.min(ms, LONGEST_RETRY_AFTER_MS) : undefined;
}
