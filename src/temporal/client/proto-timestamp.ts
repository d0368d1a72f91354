/** A timestamp of Temporal's interface as epoch ms; 0 for none. */
export function epochMsOf(time: { seconds?: unknown; nanos?: number | null } | null | undefined): number {
  return Number(time?.seconds ?? 0) * 1_000 + (time?.nanos ?? 0) / 1_000_000;
}
