import { ApplicationFailure, type Workflow } from '@temporalio/common';
import { WithStartWorkflowOperation, WorkflowUpdateFailedError } from '@temporalio/client';
import type { Decision } from '../../../src/contracts/purchase';
import type { DecisionKind, HoldReason } from '../../../src/domain/holds';
import { PARTNER_ORDER_ID } from '../../../src/contracts/search-attributes';
import { PURCHASE_WORKFLOW, purchaseWorkflowId, RESOLVE_UPDATE } from '../../../src/contracts/names';
import { rejectionOf } from '../../support/checks';
import { type Arrangement, type Checkout, HOLD_ARRANGEMENTS, scriptedCheckout } from '../../support/held-purchases';
import { type Operator, operatorOf } from '../../support/operator';
import { sharedEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';

const KINDS: DecisionKind[] = ['order', 'replace', 'abandon', 'deliver', 'withhold'];

/** The table in docs/architecture.md#decisions-of-operators, with what each comes to. `keys`: how many the checkout gets. */
const ROWS: { reason: HoldReason; decision: DecisionKind; outcome: string; keys: number }[] = [
  { reason: 'PLACEMENT_UNKNOWN', decision: 'order', outcome: 'DELIVERED', keys: 2 },
  { reason: 'PLACEMENT_UNKNOWN', decision: 'replace', outcome: 'DELIVERED', keys: 2 },
  { reason: 'PLACEMENT_UNKNOWN', decision: 'abandon', outcome: 'ABANDONED', keys: 0 },
  { reason: 'OTHER_ITEMS', decision: 'order', outcome: 'DELIVERED', keys: 2 },
  { reason: 'OTHER_ITEMS', decision: 'abandon', outcome: 'ABANDONED', keys: 0 },
  { reason: 'OTHER_ITEMS', decision: 'deliver', outcome: 'PARTIALLY_DELIVERED', keys: 3 },
  { reason: 'ORDER_OF_ANOTHER_PURCHASE', decision: 'order', outcome: 'DELIVERED', keys: 2 },
  { reason: 'ORDER_OF_ANOTHER_PURCHASE', decision: 'abandon', outcome: 'ABANDONED', keys: 0 },
  { reason: 'ORDER_OF_ANOTHER_PURCHASE', decision: 'deliver', outcome: 'DELIVERED', keys: 2 },
  { reason: 'MORE_KEYS_THAN_ORDERED', decision: 'deliver', outcome: 'DELIVERED', keys: 3 },
  { reason: 'MORE_KEYS_THAN_ORDERED', decision: 'withhold', outcome: 'ABANDONED', keys: 0 },
  { reason: 'ORDER_CHANGES', decision: 'deliver', outcome: 'DELIVERED', keys: 2 },
  { reason: 'ORDER_CHANGES', decision: 'withhold', outcome: 'ABANDONED', keys: 0 },
  { reason: 'DELIVERY_REFUSED', decision: 'deliver', outcome: 'DELIVERED', keys: 2 },
  { reason: 'DELIVERY_REFUSED', decision: 'withhold', outcome: 'ABANDONED', keys: 0 },
  { reason: 'DELIVERY_EXHAUSTED', decision: 'deliver', outcome: 'DELIVERED', keys: 2 },
  { reason: 'DELIVERY_EXHAUSTED', decision: 'withhold', outcome: 'ABANDONED', keys: 0 },
];

describe('a purchase that waits for a person', () => {
  const env = sharedEnvironment({ settings: { replace: 'never' } });
  let checkout: Checkout;

  beforeAll(() => {
    checkout = scriptedCheckout(env);
    env.sandbox.addPastOrders({ count: 3 });
  });

  function arranged(reason: HoldReason) {
    const referenceId = env.reference();
    const arrange: Arrangement = HOLD_ARRANGEMENTS[reason];
    return arrange({ env, checkout, referenceId });
  }

  it.concurrent.each(ROWS)(
    'held because $reason, refuses what does not fit, on record, takes $decision and ends $outcome, with $keys keys',
    async ({ reason, decision, outcome, keys }) => {
      const { referenceId, rest, onResolve } = await arranged(reason);
      const operator = operatorOf(env, referenceId);
      const hold = await operator.held(reason);

      await waitUntil('the checkout knows of the hold', () => env.eventTypes(referenceId).includes('purchase.held'));
      const event = [...env.receiver.events.values()].find(({ data }) => data.referenceId === referenceId);
      expect(event?.data).toMatchObject({ hold: reason, decisions: hold.decisions, reason: hold.explanation });

      const fitting = ROWS.filter((row) => row.reason === reason).map((row) => row.decision);
      expect(hold.decisions.toSorted()).toEqual(fitting.toSorted());
      for (const other of KINDS.filter((kind) => !fitting.includes(kind))) {
        await expectRefusal(operator.resolve(other, { orderId: 'some-order' }), `does not fit ${reason}`);
      }
      const another = { hold: `${hold.id}0`, orderId: 'some-order' };
      await expectRefusal(operator.resolve(fitting[0]!, another), 'read its status again');
      expect(await env.starter.status(referenceId)).toMatchObject({ state: 'HELD', hold: { id: hold.id } });
      expect(await operator.updatesOnRecord()).toBe(KINDS.length - fitting.length + 1);

      await onResolve?.();
      await operator.resolve(decision, decision === 'order' ? rest : {});

      expect(await operator.result()).toMatchObject({ outcome });
      expect((await env.audit(referenceId)).received).toHaveLength(keys);
      expect(env.eventTypes(referenceId)).toEqual(['purchase.held', `purchase.${outcome.toLowerCase()}`]);
      expect(await operator.brokenTasks()).toEqual([]);
    },
  );

  it.concurrent(
    'refuses a decision that arrives with the start on record, because the handler must exist by then',
    async () => {
      const referenceId = env.reference();
      const operator = operatorOf(env, referenceId);
      const startWorkflowOperation = new WithStartWorkflowOperation(PURCHASE_WORKFLOW, {
        workflowId: purchaseWorkflowId(referenceId),
        taskQueue: env.taskQueue,
        args: [{ referenceId, items: [{ productId: 'demo-instant', quantity: 1 }] }],
        workflowIdConflictPolicy: 'FAIL',
      });

      const decision: Decision = { hold: 'none-is-open-yet', decision: 'abandon' };
      const { workflow } = env.client;
      const resolving = workflow.executeUpdateWithStart<Workflow, void, [Decision]>(RESOLVE_UPDATE, {
        startWorkflowOperation,
        args: [decision],
      });

      await expectRefusal(resolving, 'nothing waits for a decision');
      expect(await operator.updatesOnRecord()).toBe(1);
      expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED' });
      expect(await env.audit(referenceId)).toMatchObject({ orderCount: 1, requests: 1 });
      expect(await operator.brokenTasks()).toEqual([]);
    },
  );

  it.concurrent('takes one of two decisions for a hold, and refuses the other on record', async () => {
    const { referenceId } = await arranged('MORE_KEYS_THAN_ORDERED');
    const operator = operatorOf(env, referenceId);
    const hold = (await operator.held('MORE_KEYS_THAN_ORDERED')).id;

    const both = await Promise.allSettled([
      operator.resolve('withhold', { hold }),
      operator.resolve('withhold', { hold }),
    ]);

    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(await operator.result()).toMatchObject({ outcome: 'ABANDONED' });
  });

  it.concurrent('opens another hold when the order that a person named is not right either', async () => {
    const { referenceId } = await arranged('PLACEMENT_UNKNOWN');
    const operator = operatorOf(env, referenceId);
    const first = await operator.held('PLACEMENT_UNKNOWN');
    const other = await env.sandbox.placeManualOrder({
      referenceId: `other-${referenceId}`,
      items: [{ id: 'demo-image', quantity: 1 }],
    });

    await operator.resolve('order', { orderId: other.id });
    const second = await operator.held('OTHER_ITEMS');

    expect(second.id).not.toBe(first.id);
    await expectRefusal(operator.resolve('abandon', { hold: first.id }), 'read its status again');
    expect((await env.audit(referenceId)).received).toEqual([]);
    await operator.resolve('abandon', { hold: second.id });
    expect(await operator.result()).toMatchObject({ outcome: 'ABANDONED' });
  });

  it.concurrent('stops telling of the hold once it is decided', async () => {
    const { referenceId } = await arranged('PLACEMENT_UNKNOWN');
    checkout.refuses(referenceId, 'purchase.held', 500);
    const operator = operatorOf(env, referenceId);
    await operator.pending('deliverNotice', 2);
    const open = await env.sandbox.placeManualOrder({
      referenceId: `open-${referenceId}`,
      items: [{ id: 'demo-never', quantity: 2 }],
    });

    await operator.resolve('order', { orderId: open.id });
    await operator.pending('awaitOrderChange', 2);

    await waitUntil('the hold is no longer notified', async () => !(await operator.isPending('deliverNotice')));
    expect(env.eventTypes(referenceId)).toEqual([]);
  });

  it.concurrent.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a word', 'abandon'],
    ['no hold', { decision: 'abandon' }],
    ['a decision nobody knows', { hold: 'x', decision: 'buy' }],
    ['the decision order without an order', { hold: 'x', decision: 'order' }],
    ['an order id that would change a path', { hold: 'x', decision: 'order', orderId: '../keys' }],
  ])('refuses %s before it is a decision: nothing is on record', async (_, given) => {
    const { referenceId } = await arranged('MORE_KEYS_THAN_ORDERED');
    const operator = operatorOf(env, referenceId);
    await operator.held('MORE_KEYS_THAN_ORDERED');
    const handle = env.client.workflow.getHandle(purchaseWorkflowId(referenceId));

    await expect(handle.executeUpdate<unknown, [unknown]>(RESOLVE_UPDATE, { args: [given] })).rejects.toThrow(
      WorkflowUpdateFailedError,
    );

    expect(await operator.updatesOnRecord()).toBe(0);
    expect(await env.starter.status(referenceId)).toMatchObject({ state: 'HELD' });
    expect(await operator.brokenTasks()).toEqual([]);
  });
});

describe('an order that a person names is read before it is believed', () => {
  // So long that a read that hangs lasts until the test ends it.
  const env = sharedEnvironment({ settings: { replace: 'never', confirmWindowMs: 200, partnerTimeoutMs: 10_000 } });

  beforeAll(() => env.sandbox.addPastOrders({ count: 3 }));

  async function held() {
    const { referenceId, rest } = await HOLD_ARRANGEMENTS.PLACEMENT_UNKNOWN({
      env,
      checkout: scriptedCheckout(env),
      referenceId: env.reference(),
    });
    const operator = operatorOf(env, referenceId);
    return { referenceId, operator, hold: await operator.held('PLACEMENT_UNKNOWN'), right: rest };
  }

  it.concurrent.each<[string, string, () => Promise<string> | string]>([
    ['that the partner does not have', 'the partner has no order', () => 'never-there'],
    [
      'that another purchase has adopted, whatever the history says',
      'belongs to the purchase',
      async () => {
        const { orderId, referenceId } = await env.bought({ 'demo-instant': 2 });
        await env.untilListed(`${PARTNER_ORDER_ID.name} = '${orderId}'`, 1);
        env.sandbox.addFault({
          operation: 'orders',
          orderId,
          times: 'always',
          action: { type: 'answer', status: 500 },
        });
        return orderId ?? referenceId;
      },
    ],
    [
      'that bears the reference of another purchase, which has not found it yet',
      'belongs to the purchase',
      async () => {
        const { operator, referenceId } = await heldOther();
        const { id } = await env.sandbox.placeManualOrder({
          referenceId,
          items: [{ id: 'demo-instant', quantity: 2 }],
        });
        expect(await operator.scheduled('awaitOrderChange')).toEqual([]);
        return id;
      },
    ],
  ])('refuses one %s, and the hold stays open for every other decision', async (_, why, name) => {
    const { operator, hold, right } = await held();
    await expectRefusal(operator.resolve('order', { hold: hold.id, orderId: await name() }), why);

    expect(await operator.updatesOnRecord()).toBe(1);
    await operator.resolve('order', { hold: hold.id, ...right });
    expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED', ...right });
  });

  async function heldOther() {
    const referenceId = env.reference('other');
    env.sandbox.addFault({ operation: 'place', referenceId, action: { type: 'reset' } });
    await env.buy({ 'demo-instant': 2 }, referenceId);
    const operator = operatorOf(env, referenceId);
    await operator.held('PLACEMENT_UNKNOWN');
    return { operator, referenceId };
  }

  it.concurrent.each<[string, string, (operator: Operator, hold: string) => Promise<void>]>([
    ['another decision', 'ABANDONED', (operator, hold) => operator.resolve('abandon', { hold })],
    ['a cancel request', 'CANCELLED', (operator) => operator.cancel()],
  ])(
    'while it is read, %s is faster: the order comes too late, and nothing is lost of it',
    async (_, outcome, decide) => {
      const { referenceId, operator, hold, right } = await held();
      const { orderId } = right as { orderId: string };
      env.sandbox.addFault({ operation: 'keys', orderId, times: 'always', action: { type: 'hang' } });
      const late = expectRefusal(operator.resolve('order', { hold: hold.id, orderId }), 'nothing waits for a decision');
      await operator.pending('checkOrder');

      await expectRefusal(
        operator.resolve('order', { hold: hold.id, orderId: 'o-2' }),
        'is being read for it just now',
      );
      await decide(operator, hold.id);
      const event = `purchase.${outcome.toLowerCase()}`;
      await waitUntil(`${event} is notified`, () => env.eventTypes(referenceId).includes(event));
      await operator.complete('checkOrder', { usable: true });

      await late;
      expect(await operator.result()).toMatchObject({ outcome });
      expect(await operator.brokenTasks()).toEqual([]);
    },
  );
});

async function expectRefusal(resolving: Promise<void>, why: string): Promise<void> {
  const error = await rejectionOf<unknown>(resolving);
  const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined;
  expect(cause).toBeInstanceOf(ApplicationFailure);
  expect(cause).toMatchObject({ type: 'DecisionRefused', message: expect.stringContaining(why) });
}
