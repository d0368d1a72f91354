import { indexRecords, totalsOf } from '../../../src/domain/reconciliation/index';
import { calendarIn } from '../../../src/report/index';
import { order, purchase } from '../domain/reconciliation/generated-records';

describe('the calendar of a report', () => {
  it.each([
    ['before the clocks go forward', '2026-03-29T00:59:59Z', '2026-03-29', 1],
    ['after they went forward: there is no hour 2', '2026-03-29T01:00:00Z', '2026-03-29', 3],
    ['in the first hour 2 of the night they go back', '2026-10-25T00:30:00Z', '2026-10-25', 2],
    ['in the second', '2026-10-25T01:30:00Z', '2026-10-25', 2],
    ['at midnight in winter', '2026-01-14T23:00:00Z', '2026-01-15', 0],
    ['a second before', '2026-01-14T22:59:59.999Z', '2026-01-14', 23],
  ])('converts to Warsaw time %s', (_, instant, day, hour) => {
    const { dayOf, hourOf } = calendarIn('Europe/Warsaw');
    expect([dayOf(Date.parse(instant)), hourOf(Date.parse(instant))]).toEqual([day, hour]);
  });

  it('knows time zones that are off by quarters of an hour, and refuses one that does not exist', () => {
    expect(calendarIn('Asia/Kathmandu').hourOf(Date.parse('2026-01-01T18:14:59Z'))).toBe(23);
    expect(calendarIn('Asia/Kathmandu').dayOf(Date.parse('2026-01-01T18:15:00Z'))).toBe('2026-01-02');
    expect(() => calendarIn('Europe/Nowhere')).toThrow(RangeError);
  });
});

describe('the totals of a report', () => {
  const utc = calendarIn('UTC');

  it('count each order and purchase once, and add up money to the cent', () => {
    const orders = Array.from({ length: 10 }, (_, i) => order(String(i), { amount: 0.1 }));
    orders.push(order('0', { amount: 0.1 }), order('r', { status: 'REFUNDED', amount: 5 }));
    const purchases = [purchase('0'), purchase('0', { runId: 'older', startedAt: 0 }), purchase('1', { delivered: 0 })];
    const totals = totalsOf(indexRecords(orders, purchases), utc);
    expect(totals.byStatus).toEqual({ COMPLETED: { orders: 10, amount: 1 }, REFUNDED: { orders: 1, amount: 5 } });
    expect(totals.days).toEqual([{ day: '2026-01-13', orders: 11, delivered: 1, amount: 1 }]);
    expect(totals.hours.reduce((sum, closed) => sum + closed, 0)).toBe(2);
  });

  it('do not count the surplus order of a double purchase as handed over', () => {
    const twice = [order('0'), order('b', { referenceId: 'REF-0' })];
    expect(totalsOf(indexRecords(twice, [purchase('0')]), utc).days[0]).toMatchObject({ orders: 2, delivered: 1 });
  });

  it('show no status that could hold a key', () => {
    const orders = [order('0', { status: 'KEY-1234' }), order('1', { status: '__proto__' })];
    const { byStatus } = totalsOf(indexRecords(orders, []), utc);
    expect(byStatus).toEqual({ UNRECOGNISED: { orders: 2, amount: 24.68 } });
  });
});
