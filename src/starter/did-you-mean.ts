import { closest, distance } from 'fastest-levenshtein';

const MAX_TYPOS = 2;

/** A question to end a message with, such as `. Did you mean HELD?`; empty if no choice resembles the word. */
export function didYouMean(word: string, choices: readonly string[]): string {
  const similar = closest(word, choices);
  return distance(word, similar) <= MAX_TYPOS ? `. Did you mean ${similar}?` : '';
}
