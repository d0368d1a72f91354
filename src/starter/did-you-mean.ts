import { closest, distance } from 'fastest-levenshtein';

const MAX_TYPOS = 2;

/** The end of a message, such as `. Did you mean HELD?`. Empty if no choice is similar to the word. */
export function didYouMean(word: string, choices: readonly string[]): string {
  const similar = closest(word, choices);
  return distance(word, similar) <= MAX_TYPOS ? `. Did you mean ${similar}?` : '';
}
