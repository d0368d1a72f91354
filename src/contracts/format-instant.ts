/**
 * `2026-01-31 03:14:15 UTC`.
 * @param at ISO 8601, or epoch ms
 */
export function formatInstant(at: string | number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
