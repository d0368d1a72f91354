import { readFileSync } from 'node:fs';
import type { ReconciliationResult } from '../../../src/contracts/reconciliation';
import type { ReconciliationReport } from '../../../src/report/index';
import { HOUR } from '../../support/settings';
import { type OrderChange, startReconciliationEnvironment, type TestEnvironment } from '../../support/test-environment';

const ORDERS = 20_000;

/** Every finding of the report except orphans, as `KIND reference`. */
function named({ report }: ReconciliationResult): string[] {
  const { findings } = JSON.parse(readFileSync(report.replace(/html$/, 'json'), 'utf8')) as ReconciliationReport;
  const others = findings.filter(({ kind }) => kind !== 'ORPHAN');
  return others.map(({ kind, referenceId }) => `${kind} ${referenceId}`).toSorted();
}

describe(`a reconciliation of ${ORDERS} orders`, () => {
  let env: TestEnvironment;
  let planted: string[];
  beforeAll(async () => {
    env = await startReconciliationEnvironment({ sandbox: { search: 'ignored' } });
    planted = await plant();
    env.sandbox.addPastOrders({ count: ORDERS, days: 2 });
    await env.untilListed("PurchaseState = 'DELIVERED'", 6);
  });

  /** A purchase that has ended, with its order set to this state. */
  async function ended(quantity: number, change: OrderChange): Promise<string> {
    const { referenceId } = await env.opened({ 'demo-never': quantity });
    await env.changeOrder(referenceId, { status: 'COMPLETED', ...change });
    await env.starter.result(referenceId);
    return referenceId;
  }

  async function plant(): Promise<string[]> {
    const { referenceId: overdue } = await env.overdue();
    const { referenceId: terminated } = await env.opened({ 'demo-never': 1 });
    await env.handleOf(terminated).terminate();
    for (const late of [overdue, terminated]) await env.changeOrder(late, { status: 'COMPLETED' });

    const sameKey = { keys: [['ONE-AND-THE-SAME']] };
    const [first, second] = [await ended(1, sameKey), await ended(1, sameKey)];
    const [refunded, failed] = [await ended(1, { keys: [['ANOTHER']] }), await ended(1, { keys: [['A-THIRD']] })];
    await env.changeOrder(refunded, { status: 'REFUNDED' });
    await env.changeOrder(failed, { status: 'FAILED' });
    const overcharged = await ended(1, { shownDebit: 99.5 });
    const short = await ended(2, { keys: [['THE-ONLY-ONE']] });

    const twice = (await env.bought({ 'demo-instant': 1 })).referenceId;
    await env.orderByHand({ 'demo-instant': 1 }, twice);
    const [least] = [first, second].toSorted();
    return [
      `AMOUNT_MISMATCH ${overcharged}`,
      `DOUBLE_PURCHASE ${twice}`,
      `LATE ${overdue}`,
      `LOST ${terminated}`,
      `REFUNDED_AFTER_DELIVERY ${refunded}`,
      `SAME_KEY_TWICE ${least}`,
      `SHORTFALL ${short}`,
      `STATUS_MISMATCH ${failed}`,
    ].toSorted();
  }

  it.each(['newest', 'oldest'] as const)(
    'reports every planted finding and nothing else, with the %s orders first and while pages shift',
    async (historyOrder) => {
      env.sandbox.settings({ historyOrder, historyShift: 10 });
      const pages = () => env.sandbox.log().filter(({ path }) => path.includes('/orders?page=')).length;
      const before = pages();

      const result = await env.reconcile({ dryRun: true, lookbackMs: 72 * HOUR });

      expect(named(result)).toEqual(planted);
      expect(result.findings.ORPHAN).toBeGreaterThanOrEqual(ORDERS);
      expect(result.details).toHaveLength(200);
      // The partner ignores searches, so the newest pages are read once more to find the terminated purchase's order.
      expect(pages() - before).toBeLessThanOrEqual(Math.ceil((ORDERS + 12) / 500) * 1.05 + 5);
    },
  );
});
