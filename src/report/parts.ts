const PART = 1_000;

/** Texts of rows, a thousand at a time: in one string, those of a hundred thousand findings cost a hundred megabytes. */
export function* inParts<T>(rows: readonly T[], textOf: (row: T, at: number) => string): Generator<string> {
  for (let from = 0; from < rows.length; from += PART) {
    yield rows
      .slice(from, from + PART)
      .map((row, at) => textOf(row, from + at))
      .join('');
  }
}
