/** The longest Retry-After that is honoured, in ms. */
export const MAX_RETRY_AFTER_MS = 3_600_000;

/**
 * Parses the header `Retry-After`, in seconds or as an HTTP date. A date is measured against the sender's header `Date`
 * if there is one, otherwise against our clock.
 *
 * @param headers by lower-case name
 * @returns ms, at most one hour; undefined for anything else, and for a date in the past, because a slow clock at the
 *   sender must not shorten the delay
 */
export function parseRetryAfter(headers: Readonly<Record<string, unknown>>, nowMs: number): number | undefined {
  const header = headers['retry-after'];
  if (typeof header !== 'string') return undefined;
  if (/^\d+$/.test(header)) return Math.min(Number(header) * 1_000, MAX_RETRY_AFTER_MS);
  const ms = (parseHttpDate(header) ?? NaN) - (parseHttpDate(headers['date']) ?? nowMs);
  return ms >= 0 ? Math.min(ms, MAX_RETRY_AFTER_MS) : undefined;
}

/** An HTTP date, which ends with GMT, as epoch ms. */
function parseHttpDate(header: unknown): number | undefined {
  if (typeof header !== 'string' || !/^[A-Z][a-z]+, .+ GMT$/.test(header)) return undefined;
  // oxlint-disable-next-line no-restricted-globals -- parses a date and reads no clock
  const ms = Date.parse(header);
  return Number.isNaN(ms) ? undefined : ms;
}
