import type { ConfigIssue } from './error';
import { SECRET_NAMES, VARIABLE_NAMES } from './variables';

/** Kubernetes puts these into every container for a service that happens to be called `delivery` or `partner`. */
const SERVICE_LINK = /_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$/;

/** A variable of ours that nobody reads is most likely misspelt, and its default would silently be used. */
export function unknownNames(env: Readonly<Record<string, unknown>>, prefixes: readonly string[]): ConfigIssue[] {
  const ours = Object.keys(env).filter((name) => prefixes.some((prefix) => name.startsWith(prefix)));
  if (ours.length === 0) return [];
  const known: string[] = [...VARIABLE_NAMES, ...SECRET_NAMES.map((name) => `${name}_FILE`)];
  return ours
    .filter((name) => !known.includes(name) && !SERVICE_LINK.test(name))
    .toSorted()
    .map((name) => ({
      variable: name,
      expected: 'a name that this software knows',
      got: 'one that it does not',
      remedy: `The nearest is ${nearest(name, known)}; rename it or remove it.`,
    }));
}

function nearest(name: string, known: readonly string[]): string {
  return known.toSorted((one, other) => editDistance(name, one) - editDistance(name, other))[0] ?? '';
}

/** How many letters have to be put in, taken out or exchanged (Levenshtein). */
function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let index = 0; index < one.length; index++) {
    const next = [index + 1];
    for (let column = 0; column < other.length; column++) {
      const exchanged = (row[column] ?? 0) + (one[index] === other[column] ? 0 : 1);
      next.push(Math.min(exchanged, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
