import { readFileSync } from 'node:fs';
import { purchaseWorkflowId } from '../../../src/contracts/names';
import type { ReconciliationResult } from '../../../src/contracts/reconciliation';
import type { Finding } from '../../../src/domain/reconciliation/index';
import type { ReconciliationReport } from '../../../src/report/index';
import { startReconciliationEnvironment, type TestEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';

const ORDERS = 20_000;
/** Of one `demo-never`. */
const PRICE = 3.99;
const PURCHASES = 500;

/** Every finding of the report but the orphans, as `KIND reference`. */
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

describe(`a reconciliation of ${ORDERS} orders and ${PURCHASES} purchases`, () => {
  let env: TestEnvironment;
  beforeAll(async () => {
    // So many purchases at once are slow, and none of them may reach a deadline meanwhile.
    const settings = { deadlineMs: 6_000, partnerTimeoutMs: 5_000, placeWithinMs: 200_000, replace: 'always' } as const;
    env = await startReconciliationEnvironment({ sandbox: { search: 'ignored' }, settings });
  }, 120_000);

  const orderOf = async (referenceId: string) => (await env.sandbox.ordersOf(referenceId))[0]!.id;

  async function open(quantity = 1): Promise<string> {
    const referenceId = await env.buy({ 'demo-never': quantity });
    await waitUntil('the order is placed', async () => (await env.starter.status(referenceId)).orderId !== undefined);
    return referenceId;
  }

  /** Delivered with keys that the test chooses. */
  async function deliveredWith(key: string): Promise<string> {
    const referenceId = await open();
    await env.sandbox.changeOrder(await orderOf(referenceId), { status: 'COMPLETED', keys: [[key]] });
    expect((await env.starter.result(referenceId)).outcome).toBe('DELIVERED');
    return referenceId;
  }

  async function plant(): Promise<string[]> {
    const overdue = (await env.bought({ 'demo-never': 1 })).referenceId;
    await env.sandbox.changeOrder(await orderOf(overdue), { status: 'COMPLETED' });

    const terminated = await open();
    await env.client.workflow.getHandle(purchaseWorkflowId(terminated)).terminate();
    await env.sandbox.changeOrder(await orderOf(terminated), { status: 'COMPLETED' });

    const [first, second] = [await deliveredWith('ONE-AND-THE-SAME'), await deliveredWith('ONE-AND-THE-SAME')];
    const refunded = await deliveredWith('ANOTHER');
    await env.sandbox.changeOrder(await orderOf(refunded), { status: 'REFUNDED' });

    const overcharged = await open();
    await env.sandbox.changeOrder(await orderOf(overcharged), { status: 'COMPLETED', shownDebit: 99.5 });
    await env.starter.result(overcharged);

    const failed = await deliveredWith('A-THIRD');
    await env.sandbox.changeOrder(await orderOf(failed), { status: 'FAILED' });

    const halved = await open(2);
    const half = { status: 'PARTIAL_COMPLETED', keys: [['HALF-OF-IT']], shownDebit: 2 * PRICE };
    await env.sandbox.changeOrder(await orderOf(halved), half);
    await env.starter.result(halved);
    await env.sandbox.changeOrder(await orderOf(halved), { shownDebit: PRICE });

    const short = await open(2);
    await env.sandbox.changeOrder(await orderOf(short), { status: 'COMPLETED', keys: [['THE-ONLY-ONE']] });
    await env.starter.result(short);

    const twice = (await env.bought({ 'demo-instant': 1 })).referenceId;
    await env.sandbox.placeManualOrder({ referenceId: twice, items: [{ id: 'demo-instant', quantity: 1 }] });
    const [least] = [first, second].toSorted();
    return [
      `AMOUNT_MISMATCH ${overcharged}`,
      `DOUBLE_PURCHASE ${twice}`,
      `LATE ${overdue}`,
      `LOST ${terminated}`,
      `REFUNDED_AFTER_DELIVERY ${refunded}`,
      `SAME_KEY_TWICE ${least}`,
      `SHORTFALL_REFUNDED ${halved}`,
      `STATUS_MISMATCH ${failed}`,
      `UNDELIVERED ${short}`,
    ].toSorted();
  }

  it('reports every planted finding and no other, whichever end of the list is newest, and while pages shift', async () => {
    const planted = await plant();
    const ordinary = await Promise.all(Array.from({ length: PURCHASES }, () => env.buy({ 'demo-instant': 1 })));
    for (const { outcome } of await env.ended(ordinary, 200_000)) expect(outcome).toBe('DELIVERED');
    env.sandbox.addPastOrders({ count: ORDERS, days: 2 });
    await env.untilListed("PurchaseState = 'DELIVERED'", PURCHASES + 6);
    const known = PURCHASES + 12;

    env.sandbox.settings({ historyOrder: 'oldest', historyShift: 10 });
    const pages = () => env.sandbox.log().filter(({ path }) => path.includes('/orders?page=')).length;
    const before = pages();
    const dry = await env.reconcile({ dryRun: true, lookbackMs: 72 * 3_600_000 });
    const requests = pages() - before;
    expect(named(dry)).toEqual(planted);
    expect(dry.findings.ORPHAN).toBeGreaterThanOrEqual(ORDERS);
    // The partner ignores searches, so the order of the stopped purchase is looked for in the newest pages once more.
    expect(requests).toBeLessThanOrEqual(Math.ceil((ORDERS + known) / 500) * 1.05 + 5);

    env.sandbox.settings({ historyOrder: 'newest', historyShift: 10 });
    const first = await env.reconcile();
    expect(named(first)).toEqual(planted);
    expect(first.repaired).toBe(2);
    expect(first.details).toHaveLength(200);
    await env.untilListed("WorkflowType = 'deliverWorkflow' AND ExecutionStatus = 'Completed'", 3);

    env.sandbox.settings({ historyShift: 0 });
    const second = await env.reconcile();
    expect(second.repaired).toBe(0);
    expect(named(second)).toEqual(planted.filter((name) => !/^(LATE|LOST) /.test(name)));
    for (const kind of ['LATE', 'LOST']) {
      const referenceId = planted.find((name) => name.startsWith(kind))!.split(' ')[1]!;
      const { issued, received } = await env.audit(referenceId);
      expect(received).toEqual(issued);
      expect(received).toHaveLength(1);
    }
  }, 400_000);
});
