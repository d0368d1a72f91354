/** A duration as people and the command line write it, such as `72h`, or in minutes (rounded up) where that is not whole. */
export function inHours(ms: number): string {
  return Number.isInteger(ms / 3_600_000) ? `${ms / 3_600_000}h` : `${Math.ceil(ms / 60_000)}m`;
}
