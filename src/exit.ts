/** Ends the process with one clear message; errors that know their exit code keep it, others end with 1. */
export function exitWith(error: unknown): never {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exit(exitCodeOf(error));
}

/** Ends the process once stdout has taken everything, whatever connections are still open. */
export function flushAndExit(exitCode: number): void {
  process.stdout.write('', () => process.exit(exitCode));
}

/** The exit code that an error knows, else 1. */
export function exitCodeOf(error: unknown): number {
  const { exitCode } = (error ?? {}) as { exitCode?: unknown };
  return typeof exitCode === 'number' ? exitCode : 1;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Aborts when the process is asked to stop. Who listens must end: the process does not by itself any more. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort());
  return stop.signal;
}
