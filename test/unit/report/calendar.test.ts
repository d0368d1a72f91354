import { calendarIn } from '../../../src/report/report';

describe('the calendar of a report', () => {
  it.each([
    ['before the change to summer time', '2026-03-29T00:59:59Z', '2026-03-29', 1],
    ['after the change to summer time, which skips hour 2', '2026-03-29T01:00:00Z', '2026-03-29', 3],
    ['in the first hour 2 of the change to winter time', '2026-10-25T00:30:00Z', '2026-10-25', 2],
    ['in the second hour 2 of the change to winter time', '2026-10-25T01:30:00Z', '2026-10-25', 2],
    ['at midnight in winter', '2026-01-14T23:00:00Z', '2026-01-15', 0],
    ['a second before midnight', '2026-01-14T22:59:59.999Z', '2026-01-14', 23],
  ])('converts to Warsaw time: %s', (_, instant, day, hour) => {
    const { dayOf, hourOf } = calendarIn('Europe/Warsaw');
    expect([dayOf(Date.parse(instant)), hourOf(Date.parse(instant))]).toEqual([day, hour]);
  });

  it('supports time zones with offsets of quarter hours, and rejects unknown ones', () => {
    expect(calendarIn('Asia/Kathmandu').hourOf(Date.parse('2026-01-01T18:14:59Z'))).toBe(23);
    expect(calendarIn('Asia/Kathmandu').dayOf(Date.parse('2026-01-01T18:15:00Z'))).toBe('2026-01-02');
    expect(() => calendarIn('Europe/Nowhere')).toThrow(RangeError);
  });
});
