import { readFileSync } from 'node:fs';
import { purchaseWorkflowId } from '../../../src/contracts/names';
import type { ReconciliationResult } from '../../../src/contracts/reconciliation';
import type { Finding } from '../../../src/domain/reconciliation/index';
import type { ReconciliationReport } from '../../../src/report/index';
import { until } from '../placement/play';
import { type Stage, startStage } from './stage';

const ORDERS = 20_000;
/** Of one `demo-never`. */
const PRICE = 3.99;
const PURCHASES = 500;

/** Every finding of the report but the orders of nobody, as `KIND reference`. */
function named(result: ReconciliationResult): string[] {
  return findingsOf(result)
    .filter(({ kind }) => kind !== 'ORPHAN')
    .map(({ kind, referenceId }) => `${kind} ${referenceId}`)
    .toSorted();
}

function findingsOf({ report }: ReconciliationResult): Finding[] {
  const { findings } = JSON.parse(readFileSync(report.replace(/html$/, 'json'), 'utf8')) as ReconciliationReport;
  return findings;
}

describe(`the books of ${ORDERS} orders and ${PURCHASES} purchases`, () => {
  let stage: Stage;
  beforeAll(async () => {
    // So many at once take their time: none of them may be given up meanwhile.
    const settings = { deadlineMs: 6_000, partnerTimeoutMs: 5_000, placeWithinMs: 200_000, replace: 'always' } as const;
    stage = await startStage({ sandbox: { search: 'ignored' }, settings });
  }, 120_000);
  afterAll(() => stage.close());

  const orderOf = async (referenceId: string) => (await stage.sandbox.ordersOf(referenceId))[0]!.id;

  async function opened(quantity = 1): Promise<string> {
    const referenceId = await stage.buy({ 'demo-never': quantity });
    await until(async () => (await stage.starter.status(referenceId)).orderId !== undefined);
    return referenceId;
  }

  /** Delivered with keys that the test chooses. */
  async function deliveredWith(key: string): Promise<string> {
    const referenceId = await opened();
    await stage.sandbox.changeOrder(await orderOf(referenceId), { status: 'COMPLETED', keys: [[key]] });
    expect((await stage.starter.result(referenceId)).outcome).toBe('DELIVERED');
    return referenceId;
  }

  async function plant(): Promise<string[]> {
    const overdue = (await stage.bought({ 'demo-never': 1 })).referenceId;
    await stage.sandbox.changeOrder(await orderOf(overdue), { status: 'COMPLETED' });

    const terminated = await opened();
    await stage.client.workflow.getHandle(purchaseWorkflowId(terminated)).terminate();
    await stage.sandbox.changeOrder(await orderOf(terminated), { status: 'COMPLETED' });

    const [first, second] = [await deliveredWith('ONE-AND-THE-SAME'), await deliveredWith('ONE-AND-THE-SAME')];
    const refunded = await deliveredWith('ANOTHER');
    await stage.sandbox.changeOrder(await orderOf(refunded), { status: 'REFUNDED' });

    const dearer = await opened();
    await stage.sandbox.changeOrder(await orderOf(dearer), { status: 'COMPLETED', shownDebit: 99.5 });
    await stage.starter.result(dearer);

    const gone = await deliveredWith('A-THIRD');
    await stage.sandbox.changeOrder(await orderOf(gone), { status: 'FAILED' });

    const halved = await opened(2);
    const half = { status: 'PARTIAL_COMPLETED', keys: [['HALF-OF-IT']], shownDebit: 2 * PRICE };
    await stage.sandbox.changeOrder(await orderOf(halved), half);
    await stage.starter.result(halved);

    const short = await opened(2);
    await stage.sandbox.changeOrder(await orderOf(short), { status: 'COMPLETED', keys: [['THE-ONLY-ONE']] });
    await stage.starter.result(short);

    const twice = (await stage.bought({ 'demo-instant': 1 })).referenceId;
    await stage.sandbox.placeManualOrder({ referenceId: twice, items: [{ id: 'demo-instant', quantity: 1 }] });
    const [least] = [first, second].toSorted();
    return [
      `AMOUNT_MISMATCH ${dearer}`,
      `DOUBLE_PURCHASE ${twice}`,
      `LATE ${overdue}`,
      `LOST ${terminated}`,
      `REFUNDED_AFTER_DELIVERY ${refunded}`,
      `SAME_KEY_TWICE ${least}`,
      `SHORTFALL_REFUNDED ${halved}`,
      `STATUS_MISMATCH ${gone}`,
      `UNDELIVERED ${short}`,
    ].toSorted();
  }

  it('hold every planted finding and no other, whichever end of the list is newest, and while pages shift', async () => {
    const planted = await plant();
    const ordinary = await Promise.all(Array.from({ length: PURCHASES }, () => stage.buy({ 'demo-instant': 1 })));
    for (const { outcome } of await stage.ended(ordinary, 200_000)) expect(outcome).toBe('DELIVERED');
    stage.sandbox.addPastOrders({ count: ORDERS, days: 2 });
    await stage.untilListed("PurchaseState = 'DELIVERED'", PURCHASES + 6);
    const known = PURCHASES + 12;

    stage.sandbox.settings({ historyOrder: 'oldest', historyShift: 10 });
    const before = stage.sandbox.requests().orders;
    const dry = await stage.reconcile({ dryRun: true, lookbackMs: 72 * 3_600_000 });
    const requests = stage.sandbox.requests().orders - before;
    expect(named(dry)).toEqual(planted);
    expect(dry.findings.ORPHAN).toBeGreaterThanOrEqual(ORDERS);
    expect(requests).toBeLessThanOrEqual(Math.ceil((ORDERS + known) / 500) * 1.05);

    stage.sandbox.settings({ historyOrder: 'newest', historyShift: 10 });
    const first = await stage.reconcile();
    expect(named(first)).toEqual(planted);
    expect(first.mended).toBe(2);
    expect(first.details).toHaveLength(200);
    await stage.untilListed("WorkflowType = 'deliverWorkflow' AND ExecutionStatus = 'Completed'", 4);

    stage.sandbox.settings({ historyShift: 0 });
    const second = await stage.reconcile();
    expect(second.mended).toBe(0);
    expect(named(second)).toEqual(planted.filter((name) => !/^(LATE|LOST) /.test(name)));
    for (const kind of ['LATE', 'LOST']) {
      const referenceId = planted.find((name) => name.startsWith(kind))!.split(' ')[1]!;
      const { issued, received } = await stage.keys(referenceId);
      expect(received).toEqual(issued);
      expect(received).toHaveLength(1);
    }
  }, 400_000);
});
