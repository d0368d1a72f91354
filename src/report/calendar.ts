import type { Calendar } from '../domain/reconciliation/index';

const QUARTER_MS = 15 * 60_000;

/**
 * Converts instants to days and hours of a time zone.
 *
 * @throws RangeError for a time zone that this Node does not know.
 */
export function calendarIn(timeZone: string): Calendar {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    calendar: 'gregory',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    hourCycle: 'h23',
  });
  // Time zones change by quarters of an hour at the least, so a hundred thousand orders take only some hundred conversions.
  const known = new Map<number, { day: string; hour: number }>();
  const at = (epochMs: number) => {
    const quarter = Math.floor(epochMs / QUARTER_MS);
    const found = known.get(quarter);
    if (found) return found;
    const parts = Object.fromEntries(
      format.formatToParts(quarter * QUARTER_MS).map(({ type, value }) => [type, value]),
    );
    const converted = { day: `${parts['year']}-${parts['month']}-${parts['day']}`, hour: Number(parts['hour']) };
    known.set(quarter, converted);
    return converted;
  };
  return { dayOf: (epochMs) => at(epochMs).day, hourOf: (epochMs) => at(epochMs).hour };
}
