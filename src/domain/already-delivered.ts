import type { EventLine } from './assess-order';

/** An event of an earlier run: the fingerprints of its keys, and whether the checkout has received it. */
interface EarlierEvent {
  fingerprints: readonly string[];
  received: boolean;
}

/** The keys of an order, by the event that is to hand them over. */
export interface EventPartition<T extends EarlierEvent> {
  /** Earlier events whose keys are all in the order. They are sent again unchanged, since they may not have arrived. */
  repeat: T[];
  /** Keys for a new event: no earlier event accounts for them. */
  rest: EventLine[];
  /** No key of the order has been in an event before. */
  nothingSent: boolean;
  /** An earlier event that may have arrived can't be repeated, and what takes its place would go out under another id. */
  isKeyGone: boolean;
}

/**
 * Keeps each key in the event that first handed it over: under another event id the checkout would take it for a second key.
 *
 * The keys of a received event are never new, even when others of its keys are gone from the order. An event that was not
 * received and can't be repeated completely accounts for no key: whether what is left of it goes out anew, a person decides.
 */
export function partitionByEvent<T extends EarlierEvent>(
  lines: readonly EventLine[],
  earlier: readonly T[],
): EventPartition<T> {
  const left = countKeys(lines.flatMap((line) => line.fingerprints));
  let nothingSent = true;
  const repeatable = new Set<T>();
  // Received events first, so that an unreceived one can't account for their keys.
  for (const event of earlier.toSorted((a, b) => Number(b.received) - Number(a.received))) {
    const isWhole = hasAll(left, event.fingerprints);
    if (isWhole) repeatable.add(event);
    if (!isWhole && !event.received) continue;
    for (const fingerprint of event.fingerprints) if (removeOne(left, fingerprint)) nothingSent = false;
  }
  const rest = linesOf(lines, (fingerprint) => removeOne(left, fingerprint));
  const isNew = rest.length > 0 || nothingSent;
  return {
    repeat: earlier.filter((event) => repeatable.has(event)),
    rest,
    nothingSent,
    isKeyGone: isNew && hasBroken(lines, earlier, (event) => event.received || repeatable.has(event)),
  };
}

/**
 * Whether an event can't be repeated and nobody has decided about it yet. Where somebody has, what was left of it went out in
 * another event, which was received or is repeated.
 */
function hasBroken<T extends EarlierEvent>(
  lines: readonly EventLine[],
  earlier: readonly T[],
  isSettled: (event: T) => boolean,
): boolean {
  const broken = earlier.filter((event) => !isSettled(event));
  if (broken.length === 0) return false;
  const present = new Set(lines.flatMap((line) => line.fingerprints));
  const elsewhere = new Set(earlier.filter(isSettled).flatMap((event) => event.fingerprints));
  return broken.some((event) => {
    const left = event.fingerprints.filter((fingerprint) => present.has(fingerprint));
    return left.length === 0 || left.some((fingerprint) => !elsewhere.has(fingerprint));
  });
}

/** The lines with those fingerprints that pass, without the lines that have none left. */
export function linesOf(lines: readonly EventLine[], passes: (fingerprint: string) => boolean): EventLine[] {
  return lines
    .map((line) => ({ ...line, fingerprints: line.fingerprints.filter(passes) }))
    .filter((line) => line.fingerprints.length > 0);
}

/** How often each fingerprint is there: an order may hold the same key twice. */
export type KeyCounts = Map<string, number>;

/** Counts, because to search a list for each of 20,000 keys would take longer than a workflow task may. */
export function countKeys(fingerprints: readonly string[]): KeyCounts {
  const counts: KeyCounts = new Map();
  for (const fingerprint of fingerprints) counts.set(fingerprint, (counts.get(fingerprint) ?? 0) + 1);
  return counts;
}

/** Removes one occurrence. @returns whether there was one. */
export function removeOne(counts: KeyCounts, fingerprint: string): boolean {
  const count = counts.get(fingerprint) ?? 0;
  if (count > 0) counts.set(fingerprint, count - 1);
  return count > 0;
}

function hasAll(counts: KeyCounts, some: readonly string[]): boolean {
  return [...countKeys(some)].every(([fingerprint, count]) => (counts.get(fingerprint) ?? 0) >= count);
}
