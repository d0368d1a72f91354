import { eventIdOf } from '../../../src/contracts/event-id';
import { startDelivery } from '../../../src/activities/reconcile/start-delivery';
import { deliverWorkflowId, purchaseWorkflowId } from '../../../src/contracts/names';
import type { ReconciliationResult, ReportedFinding } from '../../../src/contracts/reconciliation';
import type { DeliveryEventBody } from '../../../src/delivery/index';
import { HOUR } from '../../support/settings';
import { startReconciliationEnvironment, type TestEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';
import { changedEvents } from '../../support/audit';

const OPEN = { 'demo-never': 2 };

describe('a reconciliation', () => {
  let env: TestEnvironment;
  beforeEach(async () => {
    env = await startReconciliationEnvironment();
  });
  afterEach(() => env.close());

  const orderOf = async (referenceId: string) => (await env.sandbox.ordersOf(referenceId))[0]!.id;
  const terminate = (referenceId: string) =>
    env.client.workflow.getHandle(purchaseWorkflowId(referenceId)).terminate('by an operator');
  const complete = async (referenceId: string, keys?: string[][]) =>
    env.sandbox.changeOrder(await orderOf(referenceId), { status: 'COMPLETED', ...(keys && { keys }) });
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
    expect(dry.mended).toBe(0);
    expect(dry.findings).toEqual({ LATE: 1, LOST: 2 });
    expect(dry.details.map(({ done }) => done)).toEqual(['dry-run', 'dry-run', 'dry-run']);
    expect((await env.audit(late)).received).toEqual([]);

    const first = await env.reconcile();
    expect(first.findings).toEqual({ LATE: 1, LOST: 2 });
    expect(first.mended).toBe(3);
    for (const referenceId of [late, lost, waiting]) await untilReceived(referenceId, 2);
    expect(env.eventTypes(late)).toEqual(['purchase.overdue', 'purchase.late_delivery']);
    expect(env.eventTypes(lost)).toEqual(['purchase.late_delivery']);
    expect((await env.starter.result(waiting)).outcome).toBe('DELIVERED');
    await env.untilListed("WorkflowType = 'deliverWorkflow' AND ExecutionStatus = 'Completed'", 2);

    const second = await env.reconcile();
    expect(second.findings).toEqual({});
    expect(second.mended).toBe(0);
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

  it('and redeliver deliver the same keys under the same id, whichever comes first', async () => {
    const [one, other] = await Promise.all([overdue(), overdue()]);
    for (const referenceId of [one, other]) await complete(referenceId);
    await env.untilListed("PurchaseState = 'OVERDUE'", 2);

    await env.starter.redeliver(one);
    await env.untilListed(`WorkflowType = 'deliverWorkflow' AND ReferenceId = '${one}'`, 1);
    expect(await env.reconcile()).toMatchObject({ mended: 1 });
    await env.untilListed(`WorkflowId = 'deliver-${other}' AND ExecutionStatus = 'Completed'`, 1);
    await env.starter.redeliver(other);

    for (const referenceId of [one, other]) await expectDeliveredOnce(referenceId);
  });

  it('repeats under its event id what was on its way when a purchase was terminated, since it may have arrived', async () => {
    const referenceId = env.reference();
    env.receiver.answerWith(({ body }) => (body.data.referenceId === referenceId ? 'take-and-hang' : 204));
    await env.buy({ 'demo-instant': 2 }, referenceId);
    await waitUntil('it is delivered', () => env.eventTypes(referenceId).includes('purchase.delivered'));
    await terminate(referenceId);
    env.receiver.answerWith(() => 204);
    await env.untilListed("ExecutionStatus = 'Terminated'", 1);

    const result = await env.reconcile();

    expect(found(result, referenceId)).toMatchObject([{ kind: 'LOST', done: 'mended' }]);
    await env.untilListed("WorkflowType = 'deliverWorkflow' AND ExecutionStatus = 'Completed'", 1);
    expect(env.eventTypes(referenceId)).toEqual(['purchase.delivered']);
    await expectDeliveredOnce(referenceId);
    expect((await env.reconcile()).findings).toEqual({});
  });

  it('hands over of a filled shortfall the keys that were missing, and only those', async () => {
    const referenceId = await open();
    const orderId = await orderOf(referenceId);
    await env.sandbox.changeOrder(orderId, { status: 'PARTIAL_COMPLETED', keys: [['FIRST']] });
    expect((await env.starter.result(referenceId)).outcome).toBe('PARTIALLY_DELIVERED');
    await env.sandbox.changeOrder(orderId, { status: 'COMPLETED', keys: [['FIRST', 'SECOND']] });
    await env.untilListed("PurchaseState = 'PARTIALLY_DELIVERED'", 1);

    const result = await env.reconcile();

    expect(found(result, referenceId)).toMatchObject([{ kind: 'SHORTFALL_FILLED', done: 'mended' }]);
    await untilReceived(referenceId, 2);
    expect(env.eventTypes(referenceId)).toEqual(['purchase.partially_delivered', 'purchase.late_delivery']);
    await expectDeliveredOnce(referenceId);
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
    expect(first.mended).toBe(0);
    expect(found(first, 'MANUAL-1')).toMatchObject([{ kind: 'ORPHAN', orderIds: [orphan.id], done: 'left' }]);
    await waitUntil(
      'both are notified',
      () => env.eventTypes(refunded.referenceId).length + env.eventTypes(twice.referenceId).length >= 4,
    );
    await env.untilListed("WorkflowType = 'deliverWorkflow' AND ExecutionStatus = 'Completed'", 2);
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
    expect(eventsOf('reconciliation.completed')[0]?.data).toMatchObject({ details: { orders: 0, mended: 0 } });
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

  it('follows an overdue purchase whose order is older than the look-back', async () => {
    await env.close();
    // The partner's clock is behind, so its orders are old.
    env = await startReconciliationEnvironment({ sandbox: { now: () => Date.now() - 5 * HOUR } });
    const referenceId = await overdue();
    await complete(referenceId);
    await env.untilListed("PurchaseState = 'OVERDUE'", 1);

    const result = await env.reconcile({ lookbackMs: 1 });

    expect(result.orders).toBe(0);
    expect(found(result, referenceId)).toMatchObject([{ kind: 'LATE', done: 'mended' }]);
    await untilReceived(referenceId, 2);
  });

  it('leaves a late delivery that the checkout has refused to people, and does not send it again', async () => {
    const referenceId = await overdue();
    await complete(referenceId);
    env.receiver.answerWith(({ body }) => (body.type === 'purchase.late_delivery' ? 410 : 204));
    await env.untilListed("PurchaseState = 'OVERDUE'", 1);
    await env.reconcile();
    await env.untilListed("WorkflowType = 'deliverWorkflow' AND ExecutionStatus = 'Failed'", 1);
    const attempts = () => env.receiver.attempts.filter(({ body }) => body.type === 'purchase.late_delivery').length;
    expect(attempts()).toBe(1);

    const second = await env.reconcile();

    expect(second.mended).toBe(0);
    expect(found(second, referenceId)).toMatchObject([
      { kind: 'LATE', done: 'left', note: expect.stringContaining('deliverWorkflow') },
    ]);
    expect(attempts()).toBe(1);
  });

  it('never starts the delivery of an event that was delivered, even when its lists lag', async () => {
    const request = {
      type: 'purchase.refunded' as const,
      at: new Date().toISOString(),
      referenceId: env.reference(),
      orderId: 'o-1',
      reason: 'the partner gave the money back',
      deduplicationKey: 'a finding',
    };
    const here = { client: env.client, taskQueue: env.taskQueue, runId: 'a-run' };
    expect(await startDelivery(here, request, 'x')).toBe('now');
    await env.client.workflow.getHandle(deliverWorkflowId({ eventId: eventIdOf(request) })).result();

    expect(await startDelivery(here, { ...request, at: '2026-01-01T00:00:00Z' }, 'x')).toBe('before');

    expect(env.receiver.attempts).toHaveLength(1);
  });

  function eventsOf(type: string): DeliveryEventBody[] {
    return [...env.receiver.events.values()].filter((event) => event.type === type);
  }
});
