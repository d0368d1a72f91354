import { eventIdOf } from '../../../src/contracts/event-id';
import { startDelivery } from '../../../src/activities/reconcile/start-delivery';
import { deliverWorkflowId, purchaseWorkflowId } from '../../../src/contracts/names';
import type { ReconciliationResult, ReportedFinding } from '../../../src/contracts/reconciliation';
import type { DeliveryEventBody } from '../../../src/delivery/index';
import { until } from '../placement/play';
import { HOUR, type Stage, startStage } from './stage';

const OPEN = { 'demo-never': 2 };

/** What the books of a small shop are like in the morning after everything went wrong. */
describe('a reconciliation', () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await startStage();
  });
  afterEach(() => stage.close());

  const orderOf = async (referenceId: string) => (await stage.sandbox.ordersOf(referenceId))[0]!.id;
  const terminate = (referenceId: string) =>
    stage.client.workflow.getHandle(purchaseWorkflowId(referenceId)).terminate('by hand');
  const complete = async (referenceId: string, keys?: string[][]) =>
    stage.sandbox.changeOrder(await orderOf(referenceId), { status: 'COMPLETED', ...(keys && { keys }) });
  const found = ({ details }: ReconciliationResult, referenceId: string): ReportedFinding[] =>
    details.filter((finding) => finding.referenceId === referenceId);

  /** A purchase whose order the partner shows as PROCESSING for as long as the test wants. */
  async function opened(): Promise<string> {
    const referenceId = await stage.buy(OPEN);
    await until(async () => (await stage.starter.status(referenceId)).orderId !== undefined);
    return referenceId;
  }

  async function overdue(): Promise<string> {
    const result = await stage.bought(OPEN);
    expect(result.outcome).toBe('OVERDUE');
    return result.referenceId;
  }

  async function terminated(): Promise<string> {
    const referenceId = await opened();
    await terminate(referenceId);
    return referenceId;
  }

  /** Held, because nobody knows what came of its placement; the order is made by hand afterwards. */
  async function held(): Promise<string> {
    const referenceId = stage.reference();
    stage.sandbox.addFault({ operation: 'place', referenceId, when: 'before', action: { type: 'reset' } });
    await stage.buy(OPEN, referenceId);
    await stage.untilState(referenceId, 'HELD');
    await stage.sandbox.placeManualOrder({ referenceId, items: [{ id: 'demo-never', quantity: 2 }] });
    return referenceId;
  }

  async function untilReceived(referenceId: string, count: number): Promise<void> {
    await until(async () => (await stage.keys(referenceId)).received.length >= count);
  }

  async function expectDeliveredOnce(referenceId: string): Promise<void> {
    const { issued, received } = await stage.keys(referenceId);
    expect(received).toEqual(issued);
    expect(new Set(received).size).toBe(received.length);
    expect(stage.receiver.contradictions).toEqual([]);
  }

  it('delivers once what was overdue, terminated or held here and has come there, and a second run finds nothing to mend', async () => {
    stage.sandbox.addPastOrders({ count: 30, endsBeforeMs: 100 * HOUR });
    const [late, lost, waiting] = await Promise.all([overdue(), terminated(), held()]);
    for (const referenceId of [late, lost, waiting]) await complete(referenceId);
    await stage.untilListed("WorkflowType = 'purchaseWorkflow'", 3);

    const dry = await stage.reconcile({ dryRun: true });
    expect(dry.mended).toBe(0);
    expect(dry.findings).toEqual({ LATE: 1, LOST: 2 });
    expect(dry.details.map(({ done }) => done)).toEqual(['dry-run', 'dry-run', 'dry-run']);
    expect((await stage.keys(late)).received).toEqual([]);

    const first = await stage.reconcile();
    expect(first.findings).toEqual({ LATE: 1, LOST: 2 });
    expect(first.mended).toBe(3);
    for (const referenceId of [late, lost, waiting]) await untilReceived(referenceId, 2);
    expect(stage.eventTypes(late)).toEqual(['purchase.overdue', 'purchase.late_delivery']);
    expect(stage.eventTypes(lost)).toEqual(['purchase.late_delivery']);
    expect((await stage.starter.result(waiting)).outcome).toBe('DELIVERED');
    await stage.untilListed("WorkflowType = 'deliverWorkflow' AND ExecutionStatus = 'Completed'", 2);

    const second = await stage.reconcile();
    expect(second).toMatchObject({ findings: {}, mended: 0 });
    for (const referenceId of [late, lost, waiting]) await expectDeliveredOnce(referenceId);
    expect(stage.sandbox.requests().place).toBe(3);
  });

  it('delivers once when two run at the same time', async () => {
    const references = await Promise.all([overdue(), overdue(), terminated(), terminated(), held()]);
    for (const referenceId of references) await complete(referenceId);
    await stage.untilListed("WorkflowType = 'purchaseWorkflow'", 5);

    await Promise.all([stage.reconcile(), stage.reconcile(), stage.reconcile()]);

    for (const referenceId of references) await untilReceived(referenceId, 2);
    await stage.untilListed("WorkflowType = 'deliverWorkflow' AND ExecutionStatus = 'Completed'", 4);
    for (const referenceId of references) await expectDeliveredOnce(referenceId);
    const ids = new Set(
      stage.receiver.attempts.filter(({ body }) => body.type === 'purchase.late_delivery').map(({ id }) => id),
    );
    expect(ids.size).toBe(4);
  });

  it('and redeliver deliver the same keys under the same id, whoever comes first', async () => {
    const [one, other] = await Promise.all([overdue(), overdue()]);
    for (const referenceId of [one, other]) await complete(referenceId);
    await stage.untilListed("PurchaseState = 'OVERDUE'", 2);

    await stage.starter.redeliver(one);
    await stage.untilListed(`WorkflowType = 'deliverWorkflow' AND ReferenceId = '${one}'`, 1);
    expect(await stage.reconcile()).toMatchObject({ mended: 1 });
    await untilReceived(other, 2);
    await stage.starter.redeliver(other);

    for (const referenceId of [one, other]) await expectDeliveredOnce(referenceId);
  });

  it('repeats under its old id what was on its way when a purchase was terminated: it may have arrived', async () => {
    const referenceId = stage.reference();
    stage.receiver.answerWith(({ body }) => (body.data.referenceId === referenceId ? 'take-and-hang' : 204));
    await stage.buy({ 'demo-instant': 2 }, referenceId);
    await until(() => stage.eventTypes(referenceId).includes('purchase.delivered'));
    await terminate(referenceId);
    stage.receiver.answerWith(() => 204);
    await stage.untilListed("ExecutionStatus = 'Terminated'", 1);

    const result = await stage.reconcile();

    expect(found(result, referenceId)).toMatchObject([{ kind: 'LOST', done: 'mended' }]);
    await stage.untilListed("WorkflowType = 'deliverWorkflow' AND ExecutionStatus = 'Completed'", 1);
    expect(stage.eventTypes(referenceId)).toEqual(['purchase.delivered']);
    await expectDeliveredOnce(referenceId);
    expect(await stage.reconcile()).toMatchObject({ findings: {}, mended: 0 });
  });

  it('hands over of a filled shortfall the keys that were missing, and only those', async () => {
    const referenceId = await opened();
    const orderId = await orderOf(referenceId);
    await stage.sandbox.changeOrder(orderId, { status: 'PARTIAL_COMPLETED', keys: [['FIRST']] });
    expect((await stage.starter.result(referenceId)).outcome).toBe('PARTIALLY_DELIVERED');
    await stage.sandbox.changeOrder(orderId, { status: 'COMPLETED', keys: [['FIRST', 'SECOND']] });
    await stage.untilListed("PurchaseState = 'PARTIALLY_DELIVERED'", 1);

    const result = await stage.reconcile();

    expect(found(result, referenceId)).toMatchObject([{ kind: 'SHORTFALL_FILLED', done: 'mended' }]);
    await untilReceived(referenceId, 2);
    expect(stage.eventTypes(referenceId)).toEqual(['purchase.partially_delivered', 'purchase.late_delivery']);
    await expectDeliveredOnce(referenceId);
  });

  it('tells the checkout once of a refund after delivery and of a double purchase, and leaves both to people', async () => {
    const [refunded, twice] = await Promise.all([
      stage.bought({ 'demo-instant': 1 }),
      stage.bought({ 'demo-instant': 1 }),
    ]);
    await stage.sandbox.changeOrder(refunded.orderId!, { status: 'REFUNDED' });
    await stage.sandbox.placeManualOrder({
      referenceId: twice.referenceId,
      items: [{ id: 'demo-instant', quantity: 1 }],
    });
    const nobodys = await stage.sandbox.placeManualOrder({
      referenceId: 'by-hand',
      items: [{ id: 'demo-instant', quantity: 1 }],
    });
    await stage.untilListed("PurchaseState = 'DELIVERED'", 2);

    const first = await stage.reconcile();

    expect(first.findings).toEqual({ DOUBLE_PURCHASE: 1, REFUNDED_AFTER_DELIVERY: 1, ORPHAN: 1 });
    expect(first.mended).toBe(0);
    expect(found(first, 'by-hand')).toMatchObject([{ kind: 'ORPHAN', orderIds: [nobodys.id], done: 'left' }]);
    await until(() => stage.eventTypes(refunded.referenceId).length + stage.eventTypes(twice.referenceId).length >= 4);
    await stage.untilListed("WorkflowType = 'deliverWorkflow' AND ExecutionStatus = 'Completed'", 2);
    const second = await stage.reconcile();
    expect(second.details.filter(({ done }) => done === 'notified')).toHaveLength(2);

    expect(stage.eventTypes(refunded.referenceId)).toEqual(['purchase.delivered', 'purchase.refunded']);
    expect(stage.eventTypes(twice.referenceId)).toEqual(['purchase.delivered', 'purchase.attention']);
    const attention = eventsOf('purchase.attention')[0];
    expect(attention?.data).toMatchObject({ kind: 'DOUBLE_PURCHASE', orderId: twice.orderId });
    expect(stage.sandbox.requests().place).toBe(2);
  });

  it('sums itself up in an event without keys, and succeeds where the checkout does not take it', async () => {
    await stage.reconcile();

    await until(() => eventsOf('reconciliation.completed').length === 1);
    expect(eventsOf('reconciliation.completed')[0]?.data).toMatchObject({ details: { orders: 0, mended: 0 } });
    await stage.reconcile({ dryRun: true });
    expect(eventsOf('reconciliation.completed')).toHaveLength(1);
    stage.receiver.answerWith(() => 410);
    expect(await stage.reconcile()).toMatchObject({ findings: {} });
  });

  it('is refused where the namespace forgets sooner than it looks back, and finds nobody guilty', async () => {
    await expect(stage.reconcile({ lookbackMs: 9 * 24 * HOUR + 1 })).rejects.toMatchObject({
      cause: { cause: { type: 'LookbackTooLong' } },
    });
  });

  it('follows an overdue purchase whose order is older than its look-back', async () => {
    await stage.close();
    // The partner's clock is behind, so its orders are old.
    stage = await startStage({ sandbox: { now: () => Date.now() - 5 * HOUR } });
    const referenceId = await overdue();
    await complete(referenceId);
    await stage.untilListed("PurchaseState = 'OVERDUE'", 1);

    const result = await stage.reconcile({ lookbackMs: 1 });

    expect(result.orders).toBe(0);
    expect(found(result, referenceId)).toMatchObject([{ kind: 'LATE', done: 'mended' }]);
    await untilReceived(referenceId, 2);
  });

  it('leaves a late delivery to people that the checkout has refused for good, and does not send it again', async () => {
    const referenceId = await overdue();
    await complete(referenceId);
    stage.receiver.answerWith(({ body }) => (body.type === 'purchase.late_delivery' ? 410 : 204));
    await stage.untilListed("PurchaseState = 'OVERDUE'", 1);
    await stage.reconcile();
    await stage.untilListed("WorkflowType = 'deliverWorkflow' AND ExecutionStatus = 'Failed'", 1);
    const attempts = () => stage.receiver.attempts.filter(({ body }) => body.type === 'purchase.late_delivery').length;
    expect(attempts()).toBe(1);

    const second = await stage.reconcile();

    expect(second.mended).toBe(0);
    expect(found(second, referenceId)).toMatchObject([
      { kind: 'LATE', done: 'left', note: expect.stringContaining('deliverWorkflow') },
    ]);
    expect(attempts()).toBe(1);
  });

  it('never starts the delivery of an event that was delivered, whatever its lists say', async () => {
    const request = {
      type: 'purchase.refunded' as const,
      at: new Date().toISOString(),
      referenceId: stage.reference(),
      orderId: 'o-1',
      reason: 'the partner gave the money back',
      deduplicationKey: 'a finding',
    };
    const here = { client: stage.client, taskQueue: stage.taskQueue, runId: 'a-run' };
    expect(await startDelivery(here, request, { told: 'x' })).toBe('now');
    await stage.client.workflow.getHandle(deliverWorkflowId(eventIdOf(request))).result();

    expect(await startDelivery(here, { ...request, at: '2026-01-01T00:00:00Z' }, { told: 'x' })).toBe('before');

    expect(stage.receiver.attempts).toHaveLength(1);
  });

  function eventsOf(type: string): DeliveryEventBody[] {
    return [...stage.receiver.events.values()].filter((event) => event.type === type);
  }
});
