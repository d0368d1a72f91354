import { deliverWorkflowId, purchaseWorkflowId, RECONCILE_WORKFLOW } from '../../../src/contracts/names';
import type { ReconciliationResult, ReportedFinding } from '../../../src/contracts/reconciliation';
import type { CheckoutEvent } from '../../../src/contracts/events';
import { PARTNER_ORDER_ID, REFERENCE_ID } from '../../../src/contracts/search-attributes';
import { operatorOf } from '../../support/operator';
import { expectAllKeys } from '../../support/purchase-checks';
import { HOUR } from '../../support/settings';
import { startReconciliationEnvironment, type TestEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';
import { answerWorkflowTask, scheduleActivity } from '../../support/workflow-task';

const OPEN = { 'demo-never': 2 };

describe('a reconciliation', () => {
  let env: TestEnvironment;
  beforeEach(async () => {
    env = await startReconciliationEnvironment({ settings: { placeWithinMs: 10_000 } });
  });
  afterEach(() => env.close());

  const complete = (referenceId: string) => env.changeOrder(referenceId, { status: 'COMPLETED' });
  const found = ({ details }: ReconciliationResult, referenceId: string): ReportedFinding[] =>
    details.filter((finding) => finding.referenceId === referenceId);
  const eventsOf = (type: string): CheckoutEvent[] =>
    [...env.receiver.events.values()].filter((event) => event.type === type);

  const overdue = async () => (await env.overdue(OPEN)).referenceId;

  async function terminated(): Promise<string> {
    const { referenceId } = await env.opened(OPEN);
    await env.handleOf(referenceId).terminate();
    return referenceId;
  }

  /** A purchase held as PLACEMENT_UNKNOWN. Its order is placed by hand afterwards. */
  async function held(): Promise<string> {
    const referenceId = await env.buyFacing({ operation: 'place', when: 'before', action: { type: 'reset' } }, OPEN);
    await env.untilState(referenceId, 'HELD');
    await env.orderByHand(OPEN, referenceId);
    return referenceId;
  }

  async function untilReceived(referenceId: string, count: number): Promise<void> {
    const isThere = async () => (await env.audit(referenceId)).received.length >= count;
    await waitUntil(`${count} keys of ${referenceId} are received`, isThere);
  }

  /** Waits until this many late deliveries have ended. */
  const untilDelivered = (count: number) =>
    env.untilListed("WorkflowType = 'deliverWorkflow' AND ExecutionStatus = 'Completed'", count);

  it('leaves the choice to an operator if an earlier run of a held purchase recorded an order', async () => {
    const { referenceId, orderId = '' } = await env.bought({ 'demo-instant': 2 });
    await env.sandbox.changeOrder(orderId, { shownRow: { reference_id: 'another-reference' } });
    const other = await env.orderByHand({ 'demo-instant': 2 }, referenceId);
    const operator = operatorOf(env, referenceId);
    await operator.reset((await operator.points())[0]!);
    await operator.held('PLACEMENT_UNKNOWN');
    await env.untilListed("PurchaseState = 'HELD'", 1);

    const result = await env.reconcile();
    expect(found(result, referenceId)).toMatchObject([
      { kind: 'LOST', orderIds: [orderId, other.id], done: 'unrepaired' },
    ]);
    expect(result.findings).toEqual({ LOST: 1 });
    expect(await env.starter.status(referenceId)).toMatchObject({ state: 'HELD' });
    expect((await env.audit(referenceId)).received).toHaveLength(2);
  });

  it('reports an order whose reference no purchase can have', async () => {
    await env.orderByHand({ 'demo-instant': 1 }, "it's ours");
    expect(await env.reconcile()).toMatchObject({ findings: { ORPHAN: 1 }, details: [{ referenceId: "it's ours" }] });
  });

  it('counts the keys that a purchase delivered before it was reset and abandoned', async () => {
    const { referenceId } = await env.bought({ 'demo-instant': 2 });
    env.sandbox.addFault({ operation: 'orders', times: 'always', action: { type: 'answer', status: 500 } });
    const operator = operatorOf(env, referenceId);
    await operator.reset((await operator.points())[0]!);
    await operator.held('PLACEMENT_UNKNOWN');
    await operator.resolve('abandon');
    expect(await operator.result()).toMatchObject({ outcome: 'ABANDONED' });
    env.sandbox.clearFaults();
    await env.untilListed("PurchaseState = 'ABANDONED'", 1);

    expect((await env.reconcile()).findings).toEqual({});
  });

  it('delivers overdue, terminated and held purchases once when their orders are complete, and a second run repairs nothing', async () => {
    env.sandbox.addPastOrders({ count: 30, endsBeforeMs: 100 * HOUR });
    const late = await overdue();
    const [lost, waiting] = await Promise.all([terminated(), held()]);
    for (const referenceId of [late, lost, waiting]) await complete(referenceId);
    await env.untilListed("WorkflowType = 'purchaseWorkflow'", 3);

    const dry = await env.reconcile({ dryRun: true });
    expect(dry).toMatchObject({ findings: { LATE: 1, LOST: 2 }, repaired: 0 });
    expect(dry.details.map(({ done }) => done)).toEqual(['dry-run', 'dry-run', 'dry-run']);
    expect((await env.audit(late)).received).toEqual([]);

    const { findings, repaired } = await env.reconcile();
    expect({ findings, repaired }).toEqual({ findings: { LATE: 1, LOST: 2 }, repaired: 3 });
    for (const referenceId of [late, lost, waiting]) await untilReceived(referenceId, 2);
    expect(env.eventTypes(late)).toEqual(['purchase.overdue', 'purchase.late_delivery']);
    expect(env.eventTypes(lost)).toEqual(['purchase.late_delivery']);
    expect((await env.starter.result(waiting)).outcome).toBe('DELIVERED');
    await untilDelivered(2);

    expect((await env.reconcile()).findings).toEqual({});
    for (const referenceId of [late, lost, waiting]) await expectAllKeys(env, referenceId, 2);
    expect(env.sandbox.requests().place).toBe(3);
  });

  it.each([null, 'another-reference'])(
    'delivers the order that a terminated purchase recorded, although its row shows the reference %s',
    async (reference_id) => {
      const { referenceId, orderId } = await env.opened(OPEN);
      await env.sandbox.changeOrder(orderId, { shownRow: { reference_id } });
      await env.handleOf(referenceId).terminate();
      await complete(referenceId);
      await env.untilListed("ExecutionStatus = 'Terminated'", 1);

      expect(found(await env.reconcile(), referenceId)).toMatchObject([{ kind: 'LOST', done: 'repaired' }]);
      await untilReceived(referenceId, 2);
    },
  );

  it('delivers the order that an earlier run recorded, although the latest was stopped before it had one', async () => {
    const { referenceId, orderId } = await env.opened(OPEN);
    await env.sandbox.changeOrder(orderId, { shownRow: { reference_id: 'another-reference' } });
    await env.handleOf(referenceId).terminate();
    const invalid = await env.startRaw(referenceId, { args: [{ referenceId, items: [] }] });
    await expect(invalid.result()).rejects.toThrow();
    await complete(referenceId);
    await env.untilListed("ExecutionStatus = 'Failed'", 1);

    expect(found(await env.reconcile(), referenceId)).toMatchObject([{ kind: 'LOST', done: 'repaired' }]);
    await untilReceived(referenceId, 2);
  });

  it('delivers the order that an operator chose for a terminated purchase, and reports no refund of another one', async () => {
    const unknown = { operation: 'place', when: 'before', action: { type: 'reset' } } as const;
    const referenceId = await env.buyFacing(unknown, OPEN);
    await env.untilState(referenceId, 'HELD');
    const chosen = await env.orderByHand(OPEN, 'by-hand');
    await env.starter.resolve(referenceId, { decision: 'order', orderId: chosen.id });
    await env.untilState(referenceId, 'PENDING');
    const other = await env.orderByHand(OPEN, referenceId);
    await env.sandbox.changeOrder(other.id, { status: 'REFUNDED' });
    await env.handleOf(referenceId).terminate();
    await env.sandbox.changeOrder(chosen.id, { status: 'COMPLETED' });
    await env.untilListed("ExecutionStatus = 'Terminated'", 1);

    await env.reconcile();
    await untilReceived(referenceId, 2);
    const types = env.eventTypes(referenceId).filter((type) => type !== 'purchase.held');
    expect(types).toEqual(['purchase.late_delivery']);
  });

  it('reports an order that a search no longer shows, instead of treating it as delivered or its refund as known', async () => {
    const [complete, refunded] = [env.reference(), env.reference()];
    const items = [{ productId: 'demo-instant', quantity: 2 }];
    for (const referenceId of [complete, refunded]) {
      await (await env.startRaw(referenceId, { taskQueue: 'nobody', args: [{ referenceId, items }] })).terminate();
      const { id } = await env.orderByHand({ 'demo-instant': 2 }, referenceId);
      if (referenceId === refunded) await env.sandbox.changeOrder(id, { status: 'REFUNDED' });
      const data = { hits: 0, orders: [], pages: { page: 1, total: 0, limit: 500 } };
      const search = { operation: 'orders', referenceId, times: 'always', when: 'after' } as const;
      env.sandbox.addFault({ ...search, action: { type: 'merge', data } });
    }
    await env.untilListed("ExecutionStatus = 'Terminated'", 2);

    const result = await env.reconcile();
    const reported = { done: 'unrepaired', note: 'the partner shows no order for this purchase' };
    expect(found(result, complete)).toMatchObject([{ kind: 'LOST', ...reported }]);
    expect(found(result, refunded)).toMatchObject([{ kind: 'STATUS_MISMATCH', ...reported }]);
  });

  it('delivers the order of a purchase although a later start under its reference had an invalid input', async () => {
    const late = await overdue();
    const invalid = await env.startRaw(late, { args: [{ referenceId: late, items: [] }] });
    await expect(invalid.result()).rejects.toThrow();
    await complete(late);
    await env.untilListed("ExecutionStatus = 'Failed'", 1);

    expect(found(await env.reconcile(), late)).toMatchObject([{ kind: 'LOST', done: 'repaired' }]);
    await untilReceived(late, 2);
  });

  it('delivers late keys although search attributes of other workflows claim the reference and the order', async () => {
    env.sandbox.addPastOrders({ count: 30, endsBeforeMs: 100 * HOUR });
    const [late, waiting] = await Promise.all([overdue(), held()]);
    for (const referenceId of [late, waiting]) await complete(referenceId);
    const order = await env.orderOf(waiting);
    const forge = (workflowId: string, key: typeof REFERENCE_ID, value: string) =>
      env.startRaw('forged', { workflowId, taskQueue: 'nobody', typedSearchAttributes: [{ key, value }] });
    await forge(late, REFERENCE_ID, late);
    await forge(purchaseWorkflowId('forged'), PARTNER_ORDER_ID, order.id);
    await env.untilListed("WorkflowType = 'purchaseWorkflow'", 4);

    const { findings, repaired } = await env.reconcile();
    expect({ findings, repaired }).toEqual({ findings: { LATE: 1, LOST: 1 }, repaired: 2 });
    for (const referenceId of [late, waiting]) await untilReceived(referenceId, 2);
  });

  it.each([
    ['another workflow', 'somebodyElsesWorkflow', 'is running as another type of workflow'],
    ['a delivery without a worker', 'deliverWorkflow', 'has been running since 2'],
  ])('never reports keys as delivered while %s has the id of the delivery, and says so', async (_, type, words) => {
    const late = await overdue();
    await complete(late);
    const workflowId = deliverWorkflowId(late);
    await env.client.workflow.start(type, { workflowId, taskQueue: 'nobody', args: [{ referenceId: late }] });
    await env.untilListed("PurchaseState = 'OVERDUE'", 1);

    const note = expect.stringContaining(words);
    expect((await env.reconcile()).details).toMatchObject([{ kind: 'LATE', done: 'unrepaired', note }]);
    await env.client.workflow.getHandle(workflowId).terminate();
    await env.reconcile();
    await untilReceived(late, 2);
  });

  it('never reports keys of another task queue as delivered, and starts their delivery on that task queue', async () => {
    const [referenceId, taskQueue] = [env.reference(), `${env.taskQueue}-of-last-year`];
    const items = [{ productId: 'demo-instant', quantity: 2 }];
    await (await env.startRaw(referenceId, { taskQueue, args: [{ referenceId, items }] })).terminate();
    await env.orderByHand({ 'demo-instant': 2 }, referenceId);
    await env.untilListed("WorkflowType = 'purchaseWorkflow' AND ExecutionStatus = 'Terminated'", 1);

    const note = expect.stringContaining(`task queue ${taskQueue}, which this worker does not serve`);
    for (let night = 1; night <= 2; night++) {
      expect((await env.reconcile()).details).toMatchObject([{ kind: 'LOST', done: 'unrepaired', note }]);
    }
    const { status, taskQueue: startedOn } = await env.client.workflow
      .getHandle(deliverWorkflowId(referenceId))
      .describe();
    expect({ status: status.name, startedOn }).toEqual({ status: 'RUNNING', startedOn: taskQueue });
  });

  it('delivers once when several run at the same time', async () => {
    const late = [await overdue(), await overdue()];
    const references = [...late, ...(await Promise.all([terminated(), terminated(), held()]))];
    for (const referenceId of references) await complete(referenceId);
    await env.untilListed("WorkflowType = 'purchaseWorkflow'", 5);

    await Promise.all([env.reconcile(), env.reconcile(), env.reconcile()]);

    for (const referenceId of references) await untilReceived(referenceId, 2);
    await untilDelivered(4);
    for (const referenceId of references) await expectAllKeys(env, referenceId, 2);
    expect(eventsOf('purchase.late_delivery')).toHaveLength(4);
  });

  it('notifies the checkout once of a refund after delivery and of a double purchase, and repairs neither', async () => {
    const [refunded, twice] = await Promise.all([env.bought({ 'demo-instant': 1 }), env.bought({ 'demo-instant': 1 })]);
    await env.sandbox.changeOrder(refunded.orderId!, { status: 'REFUNDED' });
    await env.orderByHand({ 'demo-instant': 1 }, twice.referenceId);
    const orphan = await env.orderByHand({ 'demo-instant': 1 }, 'MANUAL-1');
    await env.untilListed("PurchaseState = 'DELIVERED'", 2);

    const first = await env.reconcile();

    expect(first.findings).toEqual({ DOUBLE_PURCHASE: 1, REFUNDED_AFTER_DELIVERY: 1, ORPHAN: 1 });
    expect(first.repaired).toBe(0);
    expect(found(first, 'MANUAL-1')).toMatchObject([{ kind: 'ORPHAN', orderIds: [orphan.id], done: 'unrepaired' }]);
    await untilDelivered(1);
    const second = await env.reconcile();
    expect(second.details.filter(({ done }) => done === 'notified')).toHaveLength(2);

    expect(env.eventTypes(refunded.referenceId)).toEqual(['purchase.delivered', 'purchase.refunded']);
    expect(env.eventTypes(twice.referenceId)).toEqual(['purchase.delivered', 'purchase.attention']);
    const double = { kind: 'DOUBLE_PURCHASE', orderId: twice.orderId };
    expect(eventsOf('purchase.attention')).toMatchObject([{ data: double }]);
    expect(env.sandbox.requests().place).toBe(2);
  });

  it('reports its end in an event without keys, and succeeds when the checkout refuses the event', async () => {
    await env.reconcile();

    await waitUntil('its end is reported', () => eventsOf('reconciliation.completed').length === 1);
    const { data } = eventsOf('reconciliation.completed')[0]!;
    expect(data).toMatchObject({ details: { orders: 0, repaired: 0 } });
    // A run by hand must not pass for the nightly one.
    expect(data.referenceId).toMatch(/^reconcile-/);
    await env.reconcile({ dryRun: true });
    expect(eventsOf('reconciliation.completed')).toHaveLength(1);
    env.receiver.respondWith(() => 410);
    expect((await env.reconcile()).findings).toEqual({});
  });

  it('ends CANCELLED when it is cancelled while the partner hangs, and the next run repairs everything', async () => {
    const referenceId = await overdue();
    await complete(referenceId);
    await env.untilListed("PurchaseState = 'OVERDUE'", 1);
    const hanging = env.sandbox.addFault({ operation: 'orders', times: 'always', action: { type: 'hang' } });
    const { client, taskQueue } = env;
    const handle = await client.workflow.start(RECONCILE_WORKFLOW, { workflowId: 'cancelled', taskQueue, args: [{}] });
    await waitUntil('it reads the history', () => hanging.hits > 0);
    await handle.cancel();

    await expect(handle.result()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
    expect((await handle.describe()).status.name).toBe('CANCELLED');
    expect((await env.audit(referenceId)).received).toEqual([]);
    env.sandbox.clearFaults();
    expect(await env.reconcile()).toMatchObject({ findings: { LATE: 1 }, repaired: 1 });
    await untilReceived(referenceId, 2);
    await expectAllKeys(env, referenceId, 2);
  });

  it('is refused when its lookback exceeds the retention, and reports no orphan', async () => {
    await expect(env.reconcile({ lookbackMs: 9 * 24 * HOUR + 1 })).rejects.toMatchObject({
      cause: { cause: { type: 'LookbackTooLong' } },
    });
  });

  it('is refused when its window is before the retention, and never reports orders of deleted purchases as orphans', async () => {
    const DAY = 24 * HOUR;
    const queue = `${env.taskQueue}-of-somebody-else`;
    const handle = await env.client.workflow.start(RECONCILE_WORKFLOW, { workflowId: 'old', taskQueue: queue });
    // As a reset of a run of last month schedules it.
    const window = { from: Date.now() - 20 * DAY, to: Date.now() - 17 * DAY, dryRun: false, timeZone: 'UTC' };
    await answerWorkflowTask(env.client, queue, scheduleActivity('reconcileOrders', env.taskQueue, window));

    const ended = await waitUntil('the activity has ended', async () => {
      const { events } = await handle.fetchHistory();
      return events?.find(
        (event) => event.activityTaskCompletedEventAttributes ?? event.activityTaskFailedEventAttributes,
      );
    });
    expect(ended.activityTaskFailedEventAttributes?.failure?.applicationFailureInfo).toMatchObject({
      type: 'LookbackTooLong',
      nonRetryable: true,
    });
  });

  it('runs with the longest lookback that the retention allows', async () => {
    expect((await env.reconcile({ lookbackMs: 9 * 24 * HOUR })).findings).toEqual({});
  });

  it('reports delivered keys that are no longer in the order, and notifies the checkout', async () => {
    const referenceId = await env.buy(OPEN);
    await env.changeOrder(referenceId, { status: 'PARTIAL_COMPLETED', keys: [['FIRST']] });
    await env.starter.result(referenceId);
    await env.changeOrder(referenceId, { status: 'COMPLETED', keys: [['SECOND', 'THIRD']] });
    await env.untilListed("PurchaseState = 'PARTIALLY_DELIVERED'", 1);

    const result = await env.reconcile();

    expect(found(result, referenceId)).toMatchObject([
      { kind: 'KEYS_GONE', done: 'notified', explanation: expect.stringContaining('no longer in the order: 1.') },
      { kind: 'SHORTFALL_FILLED', done: 'repaired' },
    ]);
    await untilReceived(referenceId, 3);
    const keyIds = [expect.any(String)];
    expect(eventsOf('purchase.attention')).toMatchObject([
      { data: { referenceId, kind: 'KEYS_GONE', details: { keyIds } } },
    ]);
  });
});
