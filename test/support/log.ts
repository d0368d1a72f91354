/** Progress, past Jest's own reporter. */
export function log(line: string): void {
  process.stdout.write(`${line}\n`);
}
