import type { Fault } from '../../../sandbox';
import type { ReconciliationResult } from '../../../src/contracts/reconciliation';
import { reconcileNow } from '../../../src/starter/reconciliation';
import { operatorOf } from '../../support/operator';
import { HOUR } from '../../support/settings';
import { startReconciliationEnvironment, type TestEnvironment } from '../../support/test-environment';
import { UNDECODABLE_VALUES } from '../../support/undecodable';
import { waitUntil } from '../../support/wait-until';

/** A key in a text field where the partner must not put it. */
const KEY = 'KEY-IN-A-TITLE-7777';

type Action = NonNullable<Fault['action']>;
const GONE: Action = { type: 'answer', status: 410 };

describe('a reconciliation of records that cannot be read', () => {
  let env: TestEnvironment;
  beforeEach(async () => {
    env = await startReconciliationEnvironment();
  });
  afterEach(() => env.close());

  const named = ({ details }: ReconciliationResult) =>
    details.map(({ kind, referenceId, done }) => `${kind} ${referenceId} ${done}`).toSorted();

  /** From now on the partner gives this response for the keys of the order. */
  const keysResponse = (orderId: string, action: Action) =>
    env.sandbox.addFault({ operation: 'keys', orderId, when: 'after', times: 'always', action });

  /** A purchase that is OVERDUE while its order is complete, with or without a readable row. */
  async function late(shownRow?: unknown): Promise<{ referenceId: string; orderId: string }> {
    const purchase = await env.overdue();
    await env.sandbox.changeOrder(purchase.orderId, { status: 'COMPLETED', shownRow });
    return purchase;
  }

  it('reports each unreadable history row, and still delivers its order and all others', async () => {
    const whole = await late();
    const rotten = await late({ status: 7 });
    const nameless = await late(null);
    await env.untilListed("PurchaseState = 'OVERDUE'", 3);

    const result = await env.reconcile();

    expect(named(result)).toEqual(
      [whole, rotten, nameless]
        .map(({ referenceId }) => `LATE ${referenceId} repaired`)
        .concat(`UNREADABLE ${rotten.referenceId} unrepaired`, 'UNREADABLE undefined unrepaired')
        .toSorted(),
    );
    const unreadable = result.details.filter(({ kind }) => kind === 'UNREADABLE');
    expect(unreadable.map(({ orderIds }) => orderIds).toSorted()).toEqual([[], [rotten.orderId]]);
    for (const { referenceId } of [whole, rotten, nameless]) {
      await waitUntil('its keys have come', async () => (await env.audit(referenceId)).received.length === 1);
    }
  });

  it('reports each followed order that cannot be read, whatever the error, and still reads the others', async () => {
    await env.close();
    // The partner's clock is behind, so its orders are too old for the lookback and are followed one by one.
    env = await startReconciliationEnvironment({ sandbox: { now: () => Date.now() - 5 * HOUR } });
    const there = await late();
    const actions: Action[] = [
      ...[410, 404, 403].map((status): Action => ({ type: 'answer', status })),
      { type: 'merge', data: { status: 7 } },
      { type: 'answer', status: 503, headers: { 'retry-after': '3600' } },
    ];
    const gone: string[] = [];
    for (const action of actions) {
      const { referenceId, orderId } = await late();
      gone.push(referenceId);
      keysResponse(orderId, action);
    }
    await env.untilListed("PurchaseState = 'OVERDUE'", 6);

    const unreadable = gone.map((referenceId) => `UNREADABLE ${referenceId} unrepaired`);
    const expected = [`LATE ${there.referenceId} repaired`, ...unreadable].toSorted();
    expect(named(await env.reconcile({ lookbackMs: 1 }))).toEqual(expected);
  });

  it('does not report an order that has become unreadable when the run after a reset has delivered it', async () => {
    const { referenceId, orderId } = await late();
    const operator = operatorOf(env, referenceId);
    await operator.reset((await operator.points())[0]!);
    expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED' });
    await env.untilListed("PurchaseState = 'DELIVERED'", 1);
    await env.untilListed("PurchaseState = 'OVERDUE'", 1);
    keysResponse(orderId, GONE);
    env.sandbox.settings({ historyLagMs: 1_000_000 });

    expect(named(await env.reconcile({ lookbackMs: 1 }))).toEqual([]);
  });

  it('reports a second order even when neither the row nor the keys of the first can be read', async () => {
    const { referenceId, orderId } = await env.bought({ 'demo-instant': 1 });
    await env.sandbox.changeOrder(orderId!, { shownRow: { status: 7 } });
    keysResponse(orderId!, GONE);
    const second = await env.orderByHand({ 'demo-instant': 1 }, referenceId);
    await env.untilListed("PurchaseState = 'DELIVERED'", 1);

    const result = await env.reconcile();

    expect(named(result)).toEqual([`DOUBLE_PURCHASE ${referenceId} notified`, `UNREADABLE ${referenceId} unrepaired`]);
    const double = result.details.find(({ kind }) => kind === 'DOUBLE_PURCHASE');
    expect(double?.orderIds).toEqual([orderId, second.id]);
  });

  it('notifies the checkout of an order with an unusable id, and puts that id only into the details', async () => {
    const { referenceId, outcome } = await env.bought({ 'demo-unknown': 1 });
    expect(outcome).toBe('REJECTED');
    const order = await env.orderByHand({ 'demo-instant': 1 }, referenceId);
    await env.sandbox.changeOrder(order.id, { status: 'COMPLETED', shownRow: { id: '../7' } });
    await env.untilListed("PurchaseState = 'REJECTED'", 1);

    expect(named(await env.reconcile())).toEqual([`UNDELIVERED ${referenceId} notified`]);

    const event = env.receiver.eventsOf(referenceId).find(({ type }) => type === 'purchase.attention');
    expect(event).toMatchObject({ data: { details: { orderIds: ['../7'] } } });
    expect(event?.data).not.toHaveProperty('orderId');
  });

  it('reports orders with a row per item if only some of the rows cost money', async () => {
    const rejected = await env.bought({ 'demo-unknown': 1 });
    const delivered = await env.bought({ 'demo-instant': 1 });
    const shownRow = [{ status: 'FAILED', item: { id: 'a' } }, { item: { id: 'b' } }];
    for (const { referenceId } of [rejected, delivered]) {
      const order = await env.orderByHand({ 'demo-instant': 1 }, referenceId);
      await env.sandbox.changeOrder(order.id, { status: 'COMPLETED', shownRow });
    }
    await env.untilListed("PurchaseState = 'REJECTED'", 1);
    await env.untilListed("PurchaseState = 'DELIVERED'", 1);

    expect(named(await env.reconcile())).toEqual([
      `DOUBLE_PURCHASE ${delivered.referenceId} notified`,
      `UNDELIVERED ${rejected.referenceId} notified`,
    ]);
  });

  it('promises no delivery of a late order that cannot be read', async () => {
    const { orderId } = await late();
    keysResponse(orderId, { type: 'merge', data: { status: 7 } });
    await env.untilListed("PurchaseState = 'OVERDUE'", 1);

    const { details } = await env.reconcile();
    expect(details).toMatchObject([{ kind: 'LATE', advice: expect.stringMatching(/^Neither a reconciliation nor/) }]);
  });

  it('shows the failures of its attempts while it is waited for', async () => {
    env.sandbox.addFault({ operation: 'orders', times: 'always', action: { type: 'answer', status: 401 } });
    const failures: string[] = [];
    const onFailure = (message: string) => {
      failures.push(message);
      env.sandbox.clearFaults();
    };
    await reconcileNow(env.client, env.taskQueue, { lookbackMs: HOUR }, { onFailure });
    expect(failures).toEqual([expect.stringContaining('401')]);
  });

  it('reports a purchase whose memo cannot be read, decoded or not, and repairs the others', async () => {
    // As a client with its own codec writes it.
    const [, encrypted] = UNDECODABLE_VALUES;
    const unreadable = [{ hold: 'a text' }, { ordered: 'two' }, { ordered: encrypted }];
    const references = await Promise.all(unreadable.map((memo) => failedWithMemo(memo)));
    await failedWithMemo({ 'a-note-of-the-checkout': encrypted });
    // No purchase: an operator would paste its id into a shell.
    await env.startRaw('$(touch pwned)', { args: [{ referenceId: 'x', items: [] }], memo: { hold: 5 } });
    const whole = await late();
    await env.untilListed("WorkflowType = 'purchaseWorkflow'", 6);
    await env.untilListed("ExecutionStatus = 'Failed'", 5);
    await env.untilListed("PurchaseState = 'OVERDUE'", 1);

    expect(named(await env.reconcile())).toEqual(
      references
        .map((referenceId) => `UNREADABLE ${referenceId} unrepaired`)
        .concat(`LATE ${whole.referenceId} repaired`)
        .toSorted(),
    );
  });

  it('contains no key of an order, whatever title the partner gave the product', async () => {
    const order = await env.orderByHand({ 'demo-instant': 1 }, 'S-0');
    const title = `Card ${KEY}`;
    const shownRow = { item: { id: 'p', title, quantity: 1, amount: 3.99 } };
    const shown = { status: 'COMPLETED', keys: [[KEY]], shownRow };
    await env.sandbox.changeOrder(order.id, shown);
    const products = [{ id: 'p', title, quantity: 1, keys: [{ type: 'text', value: KEY }] }];
    keysResponse(order.id, { type: 'merge', data: { products } });
    const unread = await env.orderByHand({ 'demo-instant': 1 }, 'S-1');
    await env.sandbox.changeOrder(unread.id, shown);
    keysResponse(unread.id, GONE);

    const result = await env.reconcile();

    expect(result.findings).toEqual({ ORPHAN: 2 });
    expect(JSON.stringify(result)).toContain('Card [key]');
    expect(JSON.stringify(result)).not.toContain(KEY);
  });

  /** An invalid purchase with this memo, so its start fails. @returns its reference */
  async function failedWithMemo(memo: Record<string, unknown>): Promise<string> {
    const referenceId = env.reference();
    await env.startRaw(referenceId, { args: [{ referenceId, items: [] }], memo });
    return referenceId;
  }
});
