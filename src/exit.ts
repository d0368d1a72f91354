/** Prints the error's message, then `advice`, on stderr, and ends the process with the error's exit code. */
export function exitWith(error: unknown, advice = ''): never {
  process.stderr.write(`${messageOf(error)}${advice}\n`);
  process.exit(exitCodeOf(error));
}

/** Ends the process once stdout is flushed, even if connections are still open. */
export function flushAndExit(exitCode: number): void {
  process.stdout.write('', () => process.exit(exitCode));
}

/** The exit code of an error, or 1 if it has none. */
export function exitCodeOf(error: unknown): number {
  const { exitCode } = (error ?? {}) as { exitCode?: unknown };
  return typeof exitCode === 'number' ? exitCode : 1;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Aborts on one of these signals. The caller must then end the process, because the signals no longer do so. */
export function stopSignal(signals: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT']): AbortSignal {
  const stop = new AbortController();
  for (const signal of signals) process.once(signal, () => stop.abort());
  return stop.signal;
}
