/** What is wrong with one variable. None of its texts holds a secret, nor a part of one. */
export interface Fault {
  variable: string;
  expected: string;
  got: string;
  /** What to do about it. */
  remedy: string;
}

/** The environment can't be used. Its message names every variable that is wrong. Exit code 78. */
export class ConfigError extends Error {
  readonly exitCode = 78;

  constructor(readonly faults: readonly Fault[]) {
    const count = faults.length === 1 ? '1 fault' : `${faults.length} faults`;
    super(
      `The configuration can't be used, ${count}:\n\n${faults.map(lineOf).join('\n')}\n\n` +
        'docs/configuration.md describes every variable.',
    );
    this.name = 'ConfigError';
  }
}

function lineOf({ variable, expected, got, remedy }: Fault): string {
  return `  ${variable}: expected ${expected}, got ${got}. ${remedy}`;
}
