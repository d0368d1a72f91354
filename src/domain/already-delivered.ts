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
}

/**
 * Keeps each key in the event that first handed it over: under another event id the checkout would take it for a second key.
 *
 * The keys of a received event are never new, even when others of its keys are gone from the order. An event that was not
 * received and can't be repeated completely accounts for no key.
 */
export function partitionByEvent<T extends EarlierEvent>(
  lines: readonly EventLine[],
  earlier: readonly T[],
): EventPartition<T> {
  const left = lines.flatMap((line) => line.fingerprints);
  const count = left.length;
  const repeatable = new Set<T>();
  // Received events first, so that an unreceived one can't account for their keys.
  for (const event of earlier.toSorted((a, b) => Number(b.received) - Number(a.received))) {
    if (removeAll(left, event.fingerprints)) repeatable.add(event);
    else if (event.received) for (const fingerprint of event.fingerprints) removeOne(left, fingerprint);
  }
  const nothingSent = left.length === count;
  return {
    repeat: earlier.filter((event) => repeatable.has(event)),
    rest: linesOf(lines, (fingerprint) => removeOne(left, fingerprint)),
    nothingSent,
  };
}

/** The lines with those fingerprints that pass, without the lines that have none left. */
export function linesOf(lines: readonly EventLine[], passes: (fingerprint: string) => boolean): EventLine[] {
  return lines
    .map((line) => ({ ...line, fingerprints: line.fingerprints.filter(passes) }))
    .filter((line) => line.fingerprints.length > 0);
}

/** Removes one occurrence: an order may hold the same key twice. @returns whether there was one. */
export function removeOne(fingerprints: string[], fingerprint: string): boolean {
  const index = fingerprints.indexOf(fingerprint);
  if (index >= 0) fingerprints.splice(index, 1);
  return index >= 0;
}

/** Removes all of `some`, or none if one is missing. @returns whether all were there. */
function removeAll(fingerprints: string[], some: readonly string[]): boolean {
  const rest = [...fingerprints];
  if (!some.every((one) => removeOne(rest, one))) return false;
  fingerprints.splice(0, fingerprints.length, ...rest);
  return true;
}
