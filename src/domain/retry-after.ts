/** The longest Retry-After that is honoured, in ms. */
export const MAX_RETRY_AFTER_MS = 3_600_000;

/**
 * Parses a Retry-After header, in seconds or as an HTTP date (which ends with GMT).
 * @returns ms, at most one hour; undefined for anything else, and for a date in the past, because a slow clock at the
 *   sender must not shorten the delay
 */
export function parseRetryAfter(header: unknown, nowMs: number): number | undefined {
  if (typeof header !== 'string') return undefined;
  if (/^\d+$/.test(header)) return Math.min(Number(header) * 1_000, MAX_RETRY_AFTER_MS);
  // oxlint-disable-next-line no-restricted-globals -- parses a date and reads no clock
  const ms = /^[A-Z][a-z]+, .+ GMT$/.test(header) ? Date.parse(header) - nowMs : NaN;
  return ms >= 0 ? Math.min(ms, MAX_RETRY_AFTER_MS) : undefined;
}
