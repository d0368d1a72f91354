import type { EventLine } from './assess-order';

/** An event of an earlier run, as far as it tells keys apart. */
interface Earlier {
  fingerprints: readonly string[];
  /** Whether the checkout has it. */
  received: boolean;
}

/** What of an order is in an event already, and what is in none. */
export interface EventPartition<T extends Earlier> {
  /** Events whose keys are all there: to be repeated as they were, for they may not have arrived. */
  repeat: T[];
  /** Keys that no event of these names. */
  rest: EventLine[];
  /** Nothing of it was ever in an event. */
  nothingSent: boolean;
}

/**
 * Keeps a key under the event in which it went out first: under another id the checkout would take it for a second key.
 * Of an event that arrived no key is new, also when others of its keys have gone; one that did not arrive and can't be made
 * whole again names nothing.
 */
export function partitionByEvent<T extends Earlier>(
  lines: readonly EventLine[],
  earlier: readonly T[],
): EventPartition<T> {
  const left = lines.flatMap((line) => line.fingerprints);
  const all = left.length;
  const whole = new Set<T>();
  for (const received of [true, false]) {
    for (const event of earlier.filter((one) => one.received === received)) {
      if (takeAll(left, event.fingerprints)) whole.add(event);
      else if (received) for (const fingerprint of event.fingerprints) take(left, fingerprint);
    }
  }
  const nothingSent = left.length === all;
  const rest = lines.map((line) => ({ ...line, fingerprints: line.fingerprints.filter((one) => take(left, one)) }));
  return {
    repeat: earlier.filter((event) => whole.has(event)),
    rest: rest.filter((line) => line.fingerprints.length > 0),
    nothingSent,
  };
}

function takeAll(left: string[], fingerprints: readonly string[]): boolean {
  const after = [...left];
  if (!fingerprints.every((fingerprint) => take(after, fingerprint))) return false;
  left.splice(0, left.length, ...after);
  return true;
}

/** The same key may stand in an order twice: each is taken once. */
function take(left: string[], fingerprint: string): boolean {
  const index = left.indexOf(fingerprint);
  if (index >= 0) left.splice(index, 1);
  return index >= 0;
}
