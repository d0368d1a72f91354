const LONGEST_MS = 3_600_000;

/**
 * The pause in milliseconds that a Retry-After header asks for, 0 to one hour. Takes seconds or an HTTP date (which
 * ends with GMT); undefined for anything else.
 */
export function parseRetryAfter(written: string | undefined, nowMs: number): number | undefined {
  if (written === undefined) return undefined;
  if (/^\d+$/.test(written)) return clamp(Number(written) * 1000);
  const at = /^[A-Z][a-z]+, .+ GMT$/.test(written) ? Date.parse(written) : NaN;
  return Number.isNaN(at) ? undefined : clamp(at - nowMs);
}

function clamp(ms: number): number {
  return Math.min(Math.max(ms, 0), LONGEST_MS);
}
