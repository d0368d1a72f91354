/** Ends the process with the error's message on stderr and its `exitCode`, by default 1. */
export function exitWith(error: unknown): never {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exit(exitCodeOf(error));
}

/** Ends the process when stdout is flushed, even if connections are still open. */
export function flushAndExit(exitCode: number): void {
  process.stdout.write('', () => process.exit(exitCode));
}

/** The exit code of an error that has one, otherwise 1. */
export function exitCodeOf(error: unknown): number {
  const { exitCode } = (error ?? {}) as { exitCode?: unknown };
  return typeof exitCode === 'number' ? exitCode : 1;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Aborts on SIGTERM or SIGINT. The caller must then end the process, because the signals no longer do. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort());
  return stop.signal;
}
