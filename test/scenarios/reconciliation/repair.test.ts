import { purchaseWorkflowId } from '../../../src/contracts/names';
import type { ReconciliationResult, ReportedFinding } from '../../../src/contracts/reconciliation';
import type { CheckoutEvent } from '../../../src/contracts/events';
import { HOUR } from '../../support/settings';
import { startReconciliationEnvironment, type TestEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';
import { changeOrder } from '../../support/watched';
import { changedEvents } from '../../support/audit';

const OPEN = { 'demo-never': 2 };

describe('a reconciliation', () => {
  let env: TestEnvironment;
  beforeEach(async () => {
    env = await startReconciliationEnvironment();
  });
  afterEach(() => env.close());

  const terminate = (referenceId: string) =>
    env.client.workflow.getHandle(purchaseWorkflowId(referenceId)).terminate('by an operator');
  const complete = (referenceId: string) => changeOrder(env, referenceId, { status: 'COMPLETED' });
  const found = ({ details }: ReconciliationResult, referenceId: string): ReportedFinding[] =>
    details.filter((finding) => finding.referenceId === referenceId);

  /** A purchase whose order stays PROCESSING until the test changes it. */
  async function open(): Promise<string> {
    const referenceId = await env.buy(OPEN);
    await waitUntil('the order is placed', async () => (await env.starter.status(referenceId)).orderId !== undefined);
    return referenceId;
  }

  async function overdue(): Promise<string> {
    const result = await env.bought(OPEN);
    expect(result.outcome).toBe('OVERDUE');
    return result.referenceId;
  }

  async function terminated(): Promise<string> {
    const referenceId = await open();
    await terminate(referenceId);
    return referenceId;
  }

  /** A purchase held because the outcome of its placement is unknown; its order is placed manually afterwards. */
  async function held(): Promise<string> {
    const referenceId = env.reference();
    env.sandbox.addFault({ operation: 'place', referenceId, when: 'before', action: { type: 'reset' } });
    await env.buy(OPEN, referenceId);
    await env.untilState(referenceId, 'HELD');
    await env.sandbox.placeManualOrder({ referenceId, items: [{ id: 'demo-never', quantity: 2 }] });
    return referenceId;
  }

  async function untilReceived(referenceId: string, count: number): Promise<void> {
    const isThere = async () => (await env.audit(referenceId)).received.length >= count;
    await waitUntil(`${count} keys of ${referenceId} are received`, isThere);
  }

  async function expectDeliveredOnce(referenceId: string): Promise<void> {
    const { issued, received } = await env.audit(referenceId);
    expect(received).toEqual(issued);
    expect(new Set(received).size).toBe(received.length);
    expect(changedEvents(env.receiver)).toEqual([]);
  }

  it('delivers once what was overdue, terminated or held here and is complete there, and a second run finds nothing to repair', async () => {
    env.sandbox.addPastOrders({ count: 30, endsBeforeMs: 100 * HOUR });
    const [late, lost, waiting] = await Promise.all([overdue(), terminated(), held()]);
    for (const referenceId of [late, lost, waiting]) await complete(referenceId);
    await env.untilListed("WorkflowType = 'purchaseWorkflow'", 3);

    const dry = await env.reconcile({ dryRun: true });
    expect(dry.repaired).toBe(0);
    expect(dry.findings).toEqual({ LATE: 1, LOST: 2 });
    expect(dry.details.map(({ done }) => done)).toEqual(['dry-run', 'dry-run', 'dry-run']);
    expect((await env.audit(late)).received).toEqual([]);

    const first = await env.reconcile();
    expect(first.findings).toEqual({ LATE: 1, LOST: 2 });
    expect(first.repaired).toBe(3);
    for (const referenceId of [late, lost, waiting]) await untilReceived(referenceId, 2);
    expect(env.eventTypes(late)).toEqual(['purchase.overdue', 'purchase.late_delivery']);
    expect(env.eventTypes(lost)).toEqual(['purchase.late_delivery']);
    expect((await env.starter.result(waiting)).outcome).toBe('DELIVERED');
    await env.untilListed("WorkflowType = 'deliverWorkflow' AND ExecutionStatus = 'Completed'", 2);

    const second = await env.reconcile();
    expect(second.findings).toEqual({});
    expect(second.repaired).toBe(0);
    for (const referenceId of [late, lost, waiting]) await expectDeliveredOnce(referenceId);
    expect(env.sandbox.requests().place).toBe(3);
  });

  it('delivers once when two run at the same time', async () => {
    const references = await Promise.all([overdue(), overdue(), terminated(), terminated(), held()]);
    for (const referenceId of references) await complete(referenceId);
    await env.untilListed("WorkflowType = 'purchaseWorkflow'", 5);

    await Promise.all([env.reconcile(), env.reconcile(), env.reconcile()]);

    for (const referenceId of references) await untilReceived(referenceId, 2);
    await env.untilListed("WorkflowType = 'deliverWorkflow' AND ExecutionStatus = 'Completed'", 4);
    for (const referenceId of references) await expectDeliveredOnce(referenceId);
    const ids = new Set(
      env.receiver.attempts.filter(({ body }) => body.type === 'purchase.late_delivery').map(({ id }) => id),
    );
    expect(ids.size).toBe(4);
  });

  it('notifies the checkout once of a refund after delivery and of a double purchase, and leaves both to people', async () => {
    const [refunded, twice] = await Promise.all([env.bought({ 'demo-instant': 1 }), env.bought({ 'demo-instant': 1 })]);
    await env.sandbox.changeOrder(refunded.orderId!, { status: 'REFUNDED' });
    await env.sandbox.placeManualOrder({
      referenceId: twice.referenceId,
      items: [{ id: 'demo-instant', quantity: 1 }],
    });
    const orphan = await env.sandbox.placeManualOrder({
      referenceId: 'MANUAL-1',
      items: [{ id: 'demo-instant', quantity: 1 }],
    });
    await env.untilListed("PurchaseState = 'DELIVERED'", 2);

    const first = await env.reconcile();

    expect(first.findings).toEqual({ DOUBLE_PURCHASE: 1, REFUNDED_AFTER_DELIVERY: 1, ORPHAN: 1 });
    expect(first.repaired).toBe(0);
    expect(found(first, 'MANUAL-1')).toMatchObject([{ kind: 'ORPHAN', orderIds: [orphan.id], done: 'left' }]);
    await waitUntil(
      'both are notified',
      () => env.eventTypes(refunded.referenceId).length + env.eventTypes(twice.referenceId).length >= 4,
    );
    await env.untilListed("WorkflowType = 'deliverWorkflow' AND ExecutionStatus = 'Completed'", 1);
    const second = await env.reconcile();
    expect(second.details.filter(({ done }) => done === 'notified')).toHaveLength(2);

    expect(env.eventTypes(refunded.referenceId)).toEqual(['purchase.delivered', 'purchase.refunded']);
    expect(env.eventTypes(twice.referenceId)).toEqual(['purchase.delivered', 'purchase.attention']);
    const attention = eventsOf('purchase.attention')[0];
    expect(attention?.data).toMatchObject({ kind: 'DOUBLE_PURCHASE', orderId: twice.orderId });
    expect(env.sandbox.requests().place).toBe(2);
  });

  it('reports its end in an event without keys, and succeeds when the checkout refuses the event', async () => {
    await env.reconcile();

    await waitUntil('its end is reported', () => eventsOf('reconciliation.completed').length === 1);
    expect(eventsOf('reconciliation.completed')[0]?.data).toMatchObject({ details: { orders: 0, repaired: 0 } });
    await env.reconcile({ dryRun: true });
    expect(eventsOf('reconciliation.completed')).toHaveLength(1);
    env.receiver.answerWith(() => 410);
    expect((await env.reconcile()).findings).toEqual({});
  });

  it('is refused when its look-back exceeds the retention, and reports no orphan', async () => {
    await expect(env.reconcile({ lookbackMs: 9 * 24 * HOUR + 1 })).rejects.toMatchObject({
      cause: { cause: { type: 'LookbackTooLong' } },
    });
  });

  it('reports delivered keys that have left an order that it reads, and notifies the checkout', async () => {
    const referenceId = await open();
    await changeOrder(env, referenceId, { status: 'PARTIAL_COMPLETED', keys: [['FIRST']] });
    await env.starter.result(referenceId);
    await changeOrder(env, referenceId, { status: 'COMPLETED', keys: [['SECOND', 'THIRD']] });
    await env.untilListed("PurchaseState = 'PARTIALLY_DELIVERED'", 1);

    const result = await env.reconcile();

    expect(found(result, referenceId)).toMatchObject([
      { kind: 'KEYS_GONE', done: 'notified', explanation: expect.stringContaining('1 of the keys') },
      { kind: 'SHORTFALL_FILLED', done: 'repaired' },
    ]);
    await untilReceived(referenceId, 3);
    expect(eventsOf('purchase.attention')).toMatchObject([{ data: { referenceId, kind: 'KEYS_GONE' } }]);
  });

  function eventsOf(type: string): CheckoutEvent[] {
    return [...env.receiver.events.values()].filter((event) => event.type === type);
  }
});
