/** Ends the process with one clear message; errors that know their exit code keep it, others end with 1. */
export function exitWith(error: unknown): never {
  const { exitCode } = (error ?? {}) as { exitCode?: unknown };
  const known = typeof exitCode === 'number';
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(known ? exitCode : 1);
}
