/** What is wrong with one variable. None of its sentences holds a secret, nor a part of one. */
export interface ConfigIssue {
  variable: string;
  expected: string;
  got: string;
  /** What to do about it. */
  remedy: string;
}

/** The environment can't be used. Its message names every variable that is wrong. Exit code 78. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly exitCode = 78;

  constructor(readonly issues: readonly ConfigIssue[]) {
    const count = issues.length === 1 ? '1 issue' : `${issues.length} issues`;
    super(
      `The configuration can't be used, ${count}:\n\n${issues.map(lineOf).join('\n')}\n\n` +
        'docs/configuration.md describes every variable.',
    );
  }
}

function lineOf({ variable, expected, got, remedy }: ConfigIssue): string {
  return `  ${variable}: expected ${expected}, got ${got}. ${remedy}`;
}
