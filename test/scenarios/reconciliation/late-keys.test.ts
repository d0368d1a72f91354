import { deliverWorkflowId } from '../../../src/contracts/names';
import type { ReconcileInput, ReportedFinding } from '../../../src/contracts/reconciliation';
import { PURCHASE_STATE } from '../../../src/contracts/search-attributes';
import { RedeliveryFailedError } from '../../../src/starter/index';
import { operatorOf } from '../../support/operator';
import { startReconciliationEnvironment, type TestEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';

const LATE = 'purchase.late_delivery';

describe('every paid key is delivered or reported', () => {
  let env: TestEnvironment;
  beforeAll(async () => {
    env = await startReconciliationEnvironment();
  });
  afterEach(() => env.receiver.respondWith(() => 204));

  /** A purchase of four keys and its order, which stays open until the test changes it. */
  async function open(items: Record<string, number> = { 'demo-never': 4 }, reference?: string) {
    return changing(await env.opened(items, reference));
  }

  const overdue = async () => changing(await env.overdue({ 'demo-never': 4 }));

  function changing(purchase: { referenceId: string; orderId: string }) {
    const become = (status: string, ...keys: string[]) =>
      env.sandbox.changeOrder(purchase.orderId, { status, keys: [keys] });
    return { ...purchase, become };
  }

  async function partlyDelivered() {
    const purchase = await open();
    await purchase.become('PARTIAL_COMPLETED', 'A');
    expect((await env.starter.result(purchase.referenceId)).outcome).toBe('PARTIALLY_DELIVERED');
    return purchase;
  }

  /** An order with other items than the purchase, which an operator has accepted for delivery. */
  async function accepted() {
    const reference = env.reference();
    const items = [{ id: 'demo-never', quantity: 3 }];
    env.sandbox.addFault({ operation: 'place', referenceId: reference, commit: { type: 'items', items } });
    const purchase = await open({ 'demo-instant': 1 }, reference);
    await purchase.become('PARTIAL_COMPLETED', 'A');
    const operator = operatorOf(env, reference);
    await operator.held('OTHER_ITEMS');
    await operator.resolve('deliver');
    return { ...purchase, operator };
  }

  /** The findings of one run about these purchases. Lists lag, so it waits until they show the ends. */
  async function night(of: string | string[], input?: ReconcileInput): Promise<ReportedFinding[]> {
    for (const one of [of].flat()) await env.untilListed(`ReferenceId = '${one}' AND CloseTime IS NOT NULL`, 1);
    const { details } = await env.reconcile(input);
    return details.filter(({ referenceId = '' }) => [of].flat().includes(referenceId));
  }

  /** Waits until this many late deliveries of a reference have ended. */
  const ended = (referenceId: string, count: number) =>
    env.untilListed(
      `WorkflowType = 'deliverWorkflow' AND ReferenceId = '${referenceId}' AND ExecutionStatus != 'Running'`,
      count,
    );

  const received = async (referenceId: string) => (await env.audit(referenceId)).received;

  it('delivers new keys of a partial order while it stays partial, and reports the missing keys every night', async () => {
    const { referenceId, become } = await partlyDelivered();
    const missing = { kind: 'SHORTFALL', done: 'unrepaired', explanation: expect.stringContaining('1 of 4 keys') };
    expect([...(await night(referenceId)), ...(await night(referenceId))]).toMatchObject([missing, missing]);

    await become('PARTIAL_COMPLETED', 'A', 'B', 'C');
    const note = 'keys being sent to the checkout: 2; still missing: 1';
    expect(await night(referenceId)).toMatchObject([{ kind: 'SHORTFALL', done: 'repaired', note }]);
    await ended(referenceId, 1);
    const still = { ...missing, explanation: expect.stringContaining('3 of 4 keys') };
    expect(await night(referenceId)).toMatchObject([still]);
    await become('COMPLETED', 'A', 'B', 'C');
    expect([...(await night(referenceId)), ...(await night(referenceId))]).toMatchObject([still, still]);

    await become('COMPLETED', 'D', 'A', 'B', 'C');
    expect(await night(referenceId)).toMatchObject([{ kind: 'SHORTFALL_FILLED', done: 'repaired' }]);
    await ended(referenceId, 2);
    expect(await night(referenceId)).toEqual([]);
    expect(env.eventTypes(referenceId)).toEqual(['purchase.partially_delivered', LATE, LATE]);
    expect(await received(referenceId)).toEqual(['A', 'B', 'C', 'D']);
  });

  it('counts no replaced key, so the key that is still missing is delivered when it arrives', async () => {
    const { referenceId, become } = await open({ 'demo-never': 3 });
    await become('COMPLETED', 'A', 'FAULTY');
    expect((await env.starter.result(referenceId)).outcome).toBe('PARTIALLY_DELIVERED');
    await become('COMPLETED', 'A', 'REPLACED');
    const ofKeys = async () => (await night(referenceId)).filter(({ kind }) => kind !== 'KEYS_GONE');
    expect(await ofKeys()).toMatchObject([{ kind: 'SHORTFALL_FILLED', done: 'repaired' }]);
    await ended(referenceId, 1);
    expect(await ofKeys()).toMatchObject([{ kind: 'SHORTFALL', done: 'unrepaired' }]);
    expect((await env.starter.status(referenceId)).afterEnd?.delivered).toEqual({ 'demo-never': 2 });

    await become('COMPLETED', 'A', 'REPLACED', 'C');
    expect(await ofKeys()).toMatchObject([{ kind: 'SHORTFALL_FILLED', done: 'repaired' }]);
    await ended(referenceId, 2);
    expect(await ofKeys()).toEqual([]);
    expect(await received(referenceId)).toEqual(['A', 'C', 'FAULTY', 'REPLACED']);
  });

  it('names delivered keys that have left their order when the purchase is delivered again', async () => {
    const { referenceId, become } = await open({ 'demo-never': 2 });
    await become('COMPLETED', 'A', 'FAULTY');
    await env.starter.result(referenceId);
    await become('COMPLETED', 'A', 'REPLACED');
    await env.starter.redeliver(referenceId);
    expect(env.eventTypes(referenceId).toSorted()).toEqual(['purchase.attention', 'purchase.delivered', LATE]);
    await ended(referenceId, 1);
    expect(await env.starter.status(referenceId)).toMatchObject({ afterEnd: { delivered: { 'demo-never': 2 } } });
  });

  it('does not deliver an adopted order that shows only after the deadline that it is for something else', async () => {
    const reference = env.reference();
    const { id } = await env.orderByHand({ 'demo-never': 1 }, reference);
    const hidesProducts = { type: 'merge', data: { products: [] } } as const;
    const fault = { operation: 'keys', orderId: id, when: 'after', times: 'always', action: hidesProducts } as const;
    env.sandbox.addFault(fault);
    const { referenceId, become } = changing(await env.overdue({ 'demo-never': 1, 'demo-instant': 1 }, reference));
    env.sandbox.clearFaults();
    await become('COMPLETED', 'SOMEBODY-ELSES');

    const note = 'the order does not contain demo-instant, which was bought';
    expect(await night(referenceId)).toMatchObject([{ kind: 'LATE', done: 'unrepaired', note }]);
    expect((await env.starter.redeliver(referenceId)).order).toMatchObject({ issue: note });
    expect(await received(referenceId)).toEqual([]);
  });

  it('delivers no key after it notified the checkout of a refund, whatever the order shows later, and says so', async () => {
    const { referenceId, become } = await overdue();
    await become('REFUNDED');
    expect(await night(referenceId)).toMatchObject([{ kind: 'STATUS_MISMATCH', done: 'notified' }]);
    await ended(referenceId, 1);

    await become('COMPLETED', 'A', 'B', 'C', 'D');
    expect(await night(referenceId)).toMatchObject([{ kind: 'STATUS_MISMATCH', done: 'notified' }]);
    const { events, order } = await env.starter.redeliver(referenceId);
    expect({ events, issue: order?.issue }).toMatchObject({ events: [], issue: expect.stringContaining('refunded') });
    expect(await received(referenceId)).toEqual([]);
    expect(env.eventTypes(referenceId)).toEqual(['purchase.overdue', 'purchase.refunded', 'purchase.attention']);
  });

  it('delivers no key after a refund notice that may have arrived, although the checkout did not confirm it', async () => {
    const { referenceId, become } = await overdue();
    env.receiver.respondWith(({ body }) => (body.type === 'purchase.refunded' ? 500 : 204));
    await become('REFUNDED');
    await night(referenceId);
    const delivery = operatorOf(env, referenceId, deliverWorkflowId(referenceId));
    await delivery.pending('deliverSale', 2);
    await delivery.terminate();

    await become('COMPLETED', 'A', 'B', 'C', 'D');
    const note = 'the order has keys, but the checkout may already have received purchase.refunded';
    expect(await night(referenceId)).toMatchObject([{ kind: 'LATE', done: 'unrepaired', note }]);
    await become('REFUNDED');
    env.receiver.respondWith(() => 204);
    await night(referenceId);
    await ended(referenceId, 2);
    expect(env.eventTypes(referenceId)).toEqual(['purchase.overdue', 'purchase.refunded']);
  });

  it('delivers no key of a terminated purchase after its purchase.failed may have arrived, and reports the order', async () => {
    const { referenceId, become } = await open();
    env.receiver.respondWith(({ body }) => (body.type === 'purchase.failed' ? 500 : 204));
    await become('FAILED');
    const operator = operatorOf(env, referenceId);
    await operator.pending('deliverSale', 2);
    await operator.terminate();

    await become('COMPLETED', 'A', 'B', 'C', 'D');
    const note = 'the order has keys, but the checkout may already have received purchase.failed';
    expect(await night(referenceId)).toMatchObject([{ kind: 'LOST', done: 'unrepaired', note }]);
    expect(await received(referenceId)).toEqual([]);
  });

  it('still knows what is missing from a terminated purchase after the rest of its order was refunded', async () => {
    const { referenceId, become } = await open();
    await operatorOf(env, referenceId).terminate();
    await become('PARTIAL_COMPLETED', 'A');
    await night(referenceId);
    await ended(referenceId, 1);
    await become('REFUNDED', 'A');
    const refunded = [{ kind: 'SHORTFALL_REFUNDED', done: 'notified' }];
    expect(await night(referenceId)).toMatchObject(refunded);
    await ended(referenceId, 2);
    expect(await night(referenceId)).toMatchObject(refunded);
  });

  it('still delivers the rest of an order after an event without keys was repeated on request', async () => {
    const { referenceId, become } = await overdue();
    await become('PARTIAL_COMPLETED', 'A');
    await night(referenceId);
    await ended(referenceId, 1);
    await become('PROCESSING');
    expect((await env.starter.redeliver(referenceId)).events).toMatchObject([{ type: 'purchase.overdue' }]);
    await ended(referenceId, 2);

    await become('COMPLETED', 'A', 'B', 'C', 'D');
    expect(await night(referenceId)).toMatchObject([{ done: 'repaired', note: 'keys being sent to the checkout: 3' }]);
    await ended(referenceId, 3);
    expect(await received(referenceId)).toHaveLength(4);
  });

  it('delivers no key after an earlier run told the checkout that there are none, and reports the order every night', async () => {
    env.sandbox.addPastOrders({ count: 1 });
    const referenceId = await env.buyFacing({ operation: 'place', action: { type: 'reset' } });
    const operator = operatorOf(env, referenceId);
    await operator.held('PLACEMENT_UNKNOWN');
    await operator.resolve('abandon');
    expect((await operator.result()).outcome).toBe('ABANDONED');

    await env.orderByHand({ 'demo-instant': 1 }, referenceId);
    await operator.reset((await operator.points())[0]!);
    await operator.held('ORDER_CHANGES');
    await operator.terminate();
    const issue = 'the order has keys, but the checkout may already have received purchase.abandoned';
    const lost = { kind: 'LOST', done: 'unrepaired', note: issue };
    expect([...(await night(referenceId)), ...(await night(referenceId))]).toMatchObject([lost, lost]);
    expect(await env.starter.redeliver(referenceId)).toMatchObject({ events: [], order: { issue } });
    expect(await received(referenceId)).toEqual([]);
  });

  it('names the keys of a late delivery that may have arrived, if they are gone before the checkout confirms', async () => {
    const { referenceId, become } = await overdue();
    await become('COMPLETED', 'A', 'B', 'C', 'D');
    let respond: (answer: number) => void = () => undefined;
    const unconfirmed = new Promise<number>((resolve) => (respond = resolve));
    env.receiver.respondWith(({ body }) => (body.type === LATE ? unconfirmed : 204));
    const redelivery = env.starter.redeliver(referenceId);
    await waitUntil('the event was sent', () =>
      env.receiver.attemptsOf(referenceId).some(({ body }) => body.type === LATE),
    );
    await become('REFUNDED');
    respond(503);

    expect((await redelivery).events).toMatchObject([{ type: 'purchase.refunded' }]);
    await waitUntil('the notice arrived', () => env.eventTypes(referenceId).includes('purchase.attention'));
    const [notice] = env.receiver.eventsOf(referenceId).filter(({ type }) => type === 'purchase.attention');
    expect(notice?.data).toMatchObject({ kind: 'DELIVERED_KEYS_GONE', details: { count: 4 } });
    const [found] = await night(referenceId);
    expect(found?.advice).toContain('may have reached the checkout');
  });

  it('reads a partial order although its debit shows a refund, delivers new keys first, and notifies the refund once', async () => {
    const { referenceId, orderId, become } = await open();
    await env.sandbox.changeOrder(orderId, { shownDebit: 40 });
    await become('PARTIAL_COMPLETED', 'A');
    expect((await env.starter.result(referenceId)).totalDebit).toBe(40);
    const price = (shownDebit: number, amount: number) =>
      env.sandbox.changeOrder(orderId, { shownDebit, shownRow: { item: { id: 'demo-never', amount } } });
    // The first row shows the price of one piece, which is no refund; the second shows all four, though three were
    // refunded.
    await price(40, 10);
    expect(await night(referenceId)).toMatchObject([{ kind: 'SHORTFALL', done: 'unrepaired' }]);
    await price(10, 40);
    await become('PARTIAL_COMPLETED', 'A', 'B');
    const note = 'keys being sent to the checkout: 1; still missing: 2';
    const dry = { kind: 'SHORTFALL_REFUNDED', done: 'dry-run', note: note.replace('being', 'to be') };
    expect(await night(referenceId, { dryRun: true })).toMatchObject([dry]);
    expect(await night(referenceId)).toMatchObject([{ kind: 'SHORTFALL_REFUNDED', done: 'repaired', note }]);
    await ended(referenceId, 1);

    await price(20, 20);
    const refunded = { kind: 'SHORTFALL_REFUNDED', done: 'notified' };
    expect([...(await night(referenceId)), ...(await night(referenceId))]).toMatchObject([refunded, refunded]);
    // Outside the lookback no row shows the order, so it is read by its id.
    env.sandbox.settings({ historyLagMs: 1_000_000 });
    expect(await night(referenceId, { lookbackMs: 1 })).toMatchObject([refunded]);
    env.sandbox.settings({ historyLagMs: 0 });
    await become('PARTIAL_COMPLETED', 'C', 'A', 'B');
    expect(await night(referenceId)).toMatchObject([{ kind: 'SHORTFALL_REFUNDED', done: 'repaired' }]);
    await ended(referenceId, 2);
    await become('REFUNDED', 'C', 'A', 'B');
    expect(await night(referenceId)).toMatchObject([refunded]);
    await ended(referenceId, 3);
    expect(env.eventTypes(referenceId)).toEqual([
      'purchase.partially_delivered',
      LATE,
      'purchase.attention',
      LATE,
      'purchase.refunded',
    ]);
    expect(await received(referenceId)).toEqual(['A', 'B', 'C']);
  });

  it('delivers later keys of other items that an operator accepted, and reports none of them as missing', async () => {
    const { referenceId, become, operator } = await accepted();
    await operator.result();

    await become('PARTIAL_COMPLETED', 'A', 'B');
    const note = 'keys being sent to the checkout: 1; still missing: 1';
    expect(await night(referenceId)).toMatchObject([{ kind: 'SHORTFALL', done: 'repaired', note }]);
    await ended(referenceId, 1);
    await become('COMPLETED', 'A', 'B', 'C');
    expect((await env.starter.redeliver(referenceId)).events.map(({ type }) => type)).toEqual([LATE]);
    await ended(referenceId, 2);
    expect(await night(referenceId)).toEqual([]);
    expect(await received(referenceId)).toEqual(['A', 'B', 'C']);
  });

  it('promises no delivery in its advice on an order that must not be delivered as it is, or on one of two', async () => {
    const [late, stopped] = [await overdue(), env.reference()];
    await late.become('COMPLETED', 'A', 'B', 'C', 'D', 'E');
    // It was stopped before it recorded which order is its own.
    const args = [{ referenceId: stopped, items: [{ productId: 'demo-instant', quantity: 1 }] }];
    await (await env.startRaw(stopped, { args, taskQueue: 'nobody' })).terminate();
    for (const _order of [1, 2]) await env.orderByHand({ 'demo-instant': 1 }, stopped);
    // The workflow itself would write the search attribute.
    await env.untilListed(`WorkflowId = 'purchase-${stopped}' AND ExecutionStatus = 'Terminated'`, 1);

    const { details } = await env.reconcile();
    const found = details.filter(({ referenceId = '' }) => [late.referenceId, stopped].includes(referenceId));
    const advice = expect.stringMatching(/^Neither a reconciliation nor `npx fulfilment redeliver` delivers anything/);
    const notDelivered = { done: 'unrepaired', advice };
    expect(found.filter(({ kind }) => kind !== 'DOUBLE_PURCHASE')).toMatchObject([
      { kind: 'LOST', note: 'the partner has 2 orders for this purchase', ...notDelivered },
      { kind: 'LATE', note: 'the order contains 5 keys of demo-never; ordered: 4', ...notDelivered },
    ]);
  });

  it('delivers keys when the history row shows an outdated or an unknown status', async () => {
    const [late, filled] = [await overdue(), await partlyDelivered()];
    const complete = { status: 'COMPLETED', keys: [['A', 'B', 'C', 'D']] };
    await env.sandbox.changeOrder(late.orderId, { ...complete, shownRow: { status: 'IN_WORK' } });
    await env.sandbox.changeOrder(filled.orderId, { ...complete, shownRow: { status: 'PARTIAL_COMPLETED' } });

    const found = await night([late.referenceId, filled.referenceId]);
    const kinds = found.map(({ kind, referenceId, done }) => `${kind} ${referenceId} ${done}`);
    expect(kinds.toSorted()).toEqual([
      `LATE ${late.referenceId} repaired`,
      `SHORTFALL_FILLED ${filled.referenceId} repaired`,
    ]);
    for (const { referenceId } of [late, filled]) {
      await ended(referenceId, 1);
      expect(await received(referenceId)).toEqual(['A', 'B', 'C', 'D']);
    }
  });

  it('does not deliver other items for a terminated purchase, although an operator had accepted them', async () => {
    env.receiver.respondWith(({ body }) => (body.type === 'purchase.held' ? 204 : 503));
    const { referenceId, become, operator } = await accepted();
    await operator.pending('deliverSale', 2);
    await operator.terminate();
    await become('COMPLETED', 'A', 'B', 'C');
    env.receiver.respondWith(() => 204);
    const { events, order } = await env.starter.redeliver(referenceId);
    expect(events).toEqual([]);
    expect(order?.issue).toContain('does not contain demo-instant');
    expect(await received(referenceId)).toEqual([]);
  });

  it('sends a refused late delivery again the next night, and redeliver sends the current keys, even after a terminate', async () => {
    const { referenceId, become } = await open();
    await env.handleOf(referenceId).terminate();
    await become('PARTIAL_COMPLETED', 'A');
    env.receiver.respondWith(() => 410);
    expect(await night(referenceId)).toMatchObject([{ kind: 'LOST', done: 'repaired' }]);
    await ended(referenceId, 1);
    const note = expect.stringContaining('the last delivery failed and was started again');
    expect(await night(referenceId)).toMatchObject([{ kind: 'LOST', done: 'unrepaired', note }]);
    await ended(referenceId, 2);

    env.receiver.respondWith(() => 204);
    await become('PARTIAL_COMPLETED', 'B', 'A');
    const { events } = await env.starter.redeliver(referenceId);
    expect(events.map(({ type }) => type)).toEqual([LATE]);
    expect(await received(referenceId)).toEqual(['A', 'B']);
  });

  it('does not claim that nothing was delivered before a refund when that is unknown', async () => {
    const { referenceId, become } = await overdue();
    env.receiver.respondWith(({ body }) => (JSON.stringify(body).includes('"A"') ? 410 : 204));
    for (const keys of [['A'], ['A', 'B']]) {
      await become('PARTIAL_COMPLETED', ...keys);
      await expect(env.starter.redeliver(referenceId)).rejects.toThrow(RedeliveryFailedError);
    }
    await become('REFUNDED', 'A', 'B');
    const advice = expect.stringContaining('may have reached the checkout');
    expect(await night(referenceId)).toMatchObject([{ kind: 'STATUS_MISMATCH', advice }]);
  });

  it('remembers that a late delivery may have arrived although its order is open again', async () => {
    const { referenceId, become } = await overdue();
    env.receiver.respondWith(({ body }) => (body.type === LATE ? 503 : 204));
    await become('COMPLETED', 'A', 'B', 'C', 'D');
    expect(await night(referenceId)).toMatchObject([{ kind: 'LATE', done: 'repaired' }]);
    await waitUntil('it was tried', () => env.receiver.attemptsOf(referenceId).length > 1);
    await become('PROCESSING', 'A', 'B', 'C', 'D');
    await ended(referenceId, 1);
    await become('REFUNDED', 'A', 'B', 'C', 'D');

    const advice = expect.stringContaining('may have reached the checkout');
    expect(await night(referenceId)).toMatchObject([{ kind: 'STATUS_MISMATCH', advice }]);
  });

  it('notifies of a refund that no event can report, because the keys were withheld after their delivery', async () => {
    const { referenceId, become } = await open();
    await become('COMPLETED', 'A', 'B', 'C', 'D');
    const operator = operatorOf(env, referenceId);
    await operator.result();
    env.receiver.respondWith(() => 410);
    await operator.reset((await operator.points())[0]!);
    await operator.held('DELIVERY_REFUSED');
    await operator.resolve('withhold');
    expect(await operator.result()).toMatchObject({ outcome: 'ABANDONED' });
    env.receiver.respondWith(() => 204);
    await become('REFUNDED', 'A', 'B', 'C', 'D');

    expect(await night(referenceId)).toMatchObject([{ kind: 'REFUNDED_AFTER_DELIVERY', done: 'notified' }]);
    expect(env.eventTypes(referenceId)).toContain('purchase.attention');
  });

  it('delivers late keys although a client started a late delivery with the state of a withheld purchase', async () => {
    const { referenceId, become } = await overdue();
    const forged = await env.client.workflow.start('deliverWorkflow', {
      workflowId: deliverWorkflowId(referenceId),
      taskQueue: env.taskQueue,
      args: [{ referenceId }],
      typedSearchAttributes: [{ key: PURCHASE_STATE, value: 'ABANDONED' }],
    });
    await forged.result();
    await become('COMPLETED', 'A', 'B', 'C', 'D');

    expect(await night(referenceId)).toMatchObject([{ kind: 'LATE', done: 'repaired' }]);
    await ended(referenceId, 2);
    expect(await received(referenceId)).toEqual(['A', 'B', 'C', 'D']);
  });

  it('the nightly run and redeliver join a late delivery that is running, and start no second one', async () => {
    const { referenceId, become } = await overdue();
    env.receiver.respondWith(({ body }) => (body.type === LATE ? 503 : 204));
    await become('COMPLETED', 'A', 'B', 'C', 'D');
    expect(await night(referenceId)).toMatchObject([{ kind: 'LATE', done: 'repaired' }]);
    const note = expect.stringContaining('has been running since');
    expect(await night(referenceId)).toMatchObject([{ kind: 'LATE', done: 'unrepaired', note }]);
    const asked = env.starter.redeliver(referenceId);
    await waitUntil('it was tried', () => env.receiver.attemptsOf(referenceId).length > 2);
    env.receiver.respondWith(() => 204);

    expect((await asked).events.map(({ type }) => type)).toEqual([LATE]);
    await ended(referenceId, 1);
    expect((await env.client.workflow.count(`WorkflowId = '${deliverWorkflowId(referenceId)}'`)).count).toBe(1);
    expect(await received(referenceId)).toEqual(['A', 'B', 'C', 'D']);
  });

  it('a late delivery that is retried sends no key once the purchase has run again and was abandoned', async () => {
    const { referenceId, become } = await overdue();
    const answers: Record<string, number> = { [LATE]: 503, 'purchase.delivered': 410 };
    env.receiver.respondWith(({ body }) => answers[body.type] ?? 204);
    await become('COMPLETED', 'A', 'B', 'C', 'D');
    expect(await night(referenceId)).toMatchObject([{ kind: 'LATE', done: 'repaired' }]);
    await waitUntil('it was tried', () => env.receiver.attemptsOf(referenceId).length > 1);
    const operator = operatorOf(env, referenceId);
    await operator.reset((await operator.points())[0]!);
    await operator.held('DELIVERY_REFUSED');
    await operator.resolve('withhold');
    expect(await operator.result()).toMatchObject({ outcome: 'ABANDONED' });
    env.receiver.respondWith(() => 204);

    await ended(referenceId, 1);
    expect(await received(referenceId)).toEqual([]);
    // The notice and the event of the outcome may arrive in either order.
    const [first, ...others] = env.eventTypes(referenceId);
    expect([first, ...others.toSorted()]).toEqual(['purchase.overdue', 'purchase.abandoned', 'purchase.held']);
  });

  it('a reset late delivery sends no key after a refund notice, although it had planned to and the order is complete again', async () => {
    const { referenceId, become } = await overdue();
    env.receiver.respondWith(({ body }) => (body.type === LATE ? 500 : 204));
    await become('COMPLETED', 'A', 'B', 'C', 'D');
    await night(referenceId);
    const workflowId = deliverWorkflowId(referenceId);
    const delivery = operatorOf(env, referenceId, workflowId);
    await delivery.pending('deliverSale', 2);
    const [planned] = await delivery.scheduled('deliverSale');
    const { runId } = await env.client.workflow.getHandle(workflowId).describe();
    await delivery.terminate();
    env.receiver.respondWith(() => 204);
    await become('REFUNDED');
    await night(referenceId);
    await ended(referenceId, 2);

    await become('COMPLETED', 'A', 'B', 'C', 'D');
    await delivery.reset(planned!, runId);
    const { events, order } = await env.client.workflow.getHandle(workflowId).result();
    expect({ events, issue: order?.issue }).toMatchObject({ events: [], issue: expect.stringContaining('refunded') });
    expect(env.eventTypes(referenceId)).toContain('purchase.refunded');
    expect(await received(referenceId)).toEqual([]);
  });

  it('a reset late delivery and then a reset purchase each deliver the current keys, and none twice', async () => {
    const { referenceId, become } = await overdue();
    await become('PARTIAL_COMPLETED', 'A', 'B');
    const { events, workflowId } = await env.starter.redeliver(referenceId);
    await become('PARTIAL_COMPLETED', 'A', 'B', 'C');
    const delivery = operatorOf(env, referenceId, workflowId);
    await delivery.reset((await delivery.points())[0]!);
    await env.client.workflow.getHandle(workflowId).result();
    const operator = operatorOf(env, referenceId);
    await operator.reset((await operator.points())[0]!);
    await operator.result();

    expect(events.map(({ type }) => type)).toEqual([LATE]);
    expect(env.eventTypes(referenceId)).toEqual(['purchase.overdue', LATE, LATE, 'purchase.partially_delivered']);
    expect(await received(referenceId)).toEqual(['A', 'B', 'C']);
  });
});
