import { rowsById } from '../../../src/domain/order';
import { indexRecords } from '../../../src/domain/reconciliation/records';
import { calendarIn, totalsOf } from '../../../src/report/report';
import { order, purchase } from '../domain/reconciliation/generated-records';

describe('the totals of a report', () => {
  const utc = calendarIn('UTC');

  it('count each order and purchase once and add up money to the cent', () => {
    const orders = Array.from({ length: 10 }, (_, i) => order(String(i), { amount: 0.1 }));
    orders.push(order('0', { amount: 0.1 }), order('r', { status: 'REFUNDED', amount: 5 }));
    const purchases = [purchase('0'), purchase('0', { runId: 'older', startedAt: 0 }), purchase('1', { delivered: 0 })];
    const totals = totalsOf(indexRecords(rowsById(orders), purchases), utc);
    expect(totals.byStatus).toEqual({ COMPLETED: { orders: 10, amount: 1 }, REFUNDED: { orders: 1, amount: 5 } });
    expect(totals.days).toEqual([{ day: '2026-01-13', orders: 11, delivered: 1, amount: 1 }]);
    expect(totals.hours.reduce((sum, closed) => sum + closed, 0)).toBe(2);
  });

  it('do not count the second order of a double purchase as delivered', () => {
    const twice = [order('0'), order('b', { referenceId: 'REF-0' })];
    expect(totalsOf(indexRecords(rowsById(twice), [purchase('0')]), utc).days[0]).toMatchObject({
      orders: 2,
      delivered: 1,
    });
  });

  it('never show a status that could contain a key', () => {
    const orders = [order('0', { status: 'KEY-1234' }), order('1', { status: '__proto__' })];
    const { byStatus } = totalsOf(indexRecords(rowsById(orders), []), utc);
    expect(byStatus).toEqual({ UNRECOGNISED: { orders: 2, amount: 24.68 } });
  });
});
