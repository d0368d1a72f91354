/** Prints the error's message, then `advice`, on stderr, and ends the process with the error's exit code. */
export function exitWith(error: unknown, advice = ''): never {
  process.stderr.write(`${messageOf(error)}${advice}\n`);
  process.exit(exitCodeOf(error));
}

/**
 * Ends the process once stdout is flushed, even if connections are still open. A reader such as `head` may have read
 * enough. After any other failure, such as a full disk, the output is lost, so the exit code is at least 1.
 */
export function flushAndExit(exitCode: number): void {
  process.stdout.write('', () => {
    const error: NodeJS.ErrnoException | null = process.stdout.errored;
    const isLost = error !== null && error.code !== 'EPIPE';
    process.exit(isLost ? exitCode || 1 : exitCode);
  });
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
