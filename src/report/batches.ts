const ROWS_IN_PART = 1_000;

/**
 * Yields the text of a thousand rows at a time. One string for 100,000 findings would need a hundred megabytes of
 * memory.
 */
export function* inBatches<T>(rows: readonly T[], textOf: (row: T, at: number) => string): Generator<string> {
  for (let from = 0; from < rows.length; from += ROWS_IN_PART) {
    yield rows
      .slice(from, from + ROWS_IN_PART)
      .map((row, at) => textOf(row, from + at))
      .join('');
  }
}
