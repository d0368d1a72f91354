/** Prints progress directly, not through Jest's reporter. */
export function log(line: string): void {
  process.stdout.write(`${line}\n`);
}
