import type { Key } from '../domain/order';

/** A shorter key may occur in a text by chance. */
const MIN_REDACTED_LENGTH = 6;
/** A longer text is not shown, because a long key in it would be slow to find. */
const MAX_TEXT_LENGTH = 2_000;
/** Characters times key lengths. Comparing more would block all other purchases for seconds. */
const MAX_COMPARED = 5_000_000;
const REDACTED = '[key]';
const NOT_COMPARED = '[too long]';

/**
 * Replaces an order's own keys in texts about it, ignoring case. A partner may write a key into a title, a product id
 * or a status, which reach histories and logs.
 *
 * @param texts all texts that will be redacted
 * @returns a text without keys. Truncate it only afterwards, or part of a key may remain.
 */
export function keyRedaction(texts: readonly string[], keys: readonly Key[]): (text: string) => string {
  const byLength = groupByLength(keys);
  const compared = texts.reduce((sum, { length }) => sum + (length > MAX_TEXT_LENGTH ? 0 : length), 0);
  const isTooMuch = compared * byLength.size > MAX_COMPARED;
  return (text) => {
    if (text.length < MIN_REDACTED_LENGTH || byLength.size === 0) return text;
    return isTooMuch || text.length > MAX_TEXT_LENGTH ? NOT_COMPARED : redact(text, byLength);
  };
}

/** The keys that can occur in a text, folded. */
function groupByLength(keys: readonly Key[]): Map<number, Set<string>> {
  const byLength = new Map<number, Set<string>>();
  for (const { value } of keys) {
    const key = foldCase(value.trim());
    if (key.length < MIN_REDACTED_LENGTH || key.length > MAX_TEXT_LENGTH) continue;
    const sameLength = byLength.get(key.length);
    if (sameLength) sameLength.add(key);
    else byLength.set(key.length, new Set([key]));
  }
  return byLength;
}

function redact(text: string, byLength: ReadonlyMap<number, ReadonlySet<string>>): string {
  const folded = foldCase(text);
  const parts: string[] = [];
  let shownFrom = 0;
  let redactedTo = 0;
  for (let at = 0; at < folded.length; at++) {
    for (const [length, keys] of byLength) {
      if (at + length <= redactedTo || !keys.has(folded.slice(at, at + length))) continue;
      // Keys that overlap are replaced as one.
      if (redactedTo <= at) parts.push(text.slice(shownFrom, at), REDACTED);
      redactedTo = at + length;
      shownFrom = redactedTo;
    }
  }
  return parts.join('') + text.slice(shownFrom);
}

/** Lower case, without changing the length: some letters have a longer lower case. */
function foldCase(text: string): string {
  const lower = text.toLowerCase();
  if (lower.length === text.length) return lower;
  return Array.from({ length: text.length }, (_, at) => {
    const folded = text.charAt(at).toLowerCase();
    return folded.length === 1 ? folded : text.charAt(at);
  }).join('');
}
