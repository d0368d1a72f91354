import type { Calendar } from '../domain/reconciliation/index';

const QUARTER = 15 * 60_000;

/**
 * Tells days and hours in a time zone.
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
  // Zones change by quarters of an hour at the least, so a hundred thousand orders take only some hundred conversions.
  const known = new Map<number, { day: string; hour: number }>();
  const at = (epochMs: number) => {
    const quarter = Math.floor(epochMs / QUARTER);
    const found = known.get(quarter);
    if (found) return found;
    const parts = Object.fromEntries(format.formatToParts(quarter * QUARTER).map(({ type, value }) => [type, value]));
    const told = { day: `${parts['year']}-${parts['month']}-${parts['day']}`, hour: Number(parts['hour']) };
    known.set(quarter, told);
    return told;
  };
  return { dayOf: (epochMs) => at(epochMs).day, hourOf: (epochMs) => at(epochMs).hour };
}
