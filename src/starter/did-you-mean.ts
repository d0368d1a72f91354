import { closest, distance } from 'fastest-levenshtein';
import { quoteValue } from '../domain/purchase-rules';

const MAX_TYPOS = 2;
/** The largest share of a word that may differ: two typos in a word of four letters make another word. */
const MAX_TYPO_SHARE = 1 / 3;

/** The end of a message, such as `. Did you mean HELD?`. Empty if no choice is similar to the word. */
export function didYouMean(word: string, choices: readonly string[]): string {
  const similar = closest(word, choices);
  const maxDistance = Math.min(MAX_TYPOS, similar.length * MAX_TYPO_SHARE);
  return distance(word, similar) <= maxDistance ? `. Did you mean ${similar}?` : '';
}

/** The end of a message about a value that is not one of the choices. */
export function expectedOneOf(choices: readonly string[], value: unknown): string {
  const hint = typeof value === 'string' ? didYouMean(value, choices) : '';
  return `expected one of ${choices.join(', ')}, got ${quoteValue(value)}${hint}`;
}
