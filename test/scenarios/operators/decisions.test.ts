import { ApplicationFailure, type Workflow } from '@temporalio/common';
import { WithStartWorkflowOperation, WorkflowUpdateFailedError } from '@temporalio/client';
import type { ResolveUpdateInput } from '../../../src/contracts/purchase';
import { DECISIONS, type Decision, type HoldReason } from '../../../src/domain/holds';
import { PARTNER_ORDER_ID } from '../../../src/contracts/search-attributes';
import { PURCHASE_WORKFLOW, purchaseWorkflowId, RESOLVE_UPDATE } from '../../../src/contracts/names';
import { rejectionOf } from '../../support/checks';
import { purchaseBeforeHold, heldPurchase } from '../../support/held-purchases';
import { operatorOf } from '../../support/operator';
import { expectDeliveredOnce } from '../../support/purchase-checks';
import { sharedEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';

/** The table in docs/operations.md#holds, with the outcome and the number of keys delivered. */
const POSSIBLE: Record<HoldReason, Partial<Record<Decision, [outcome: string, keys: number]>>> = {
  PLACEMENT_UNKNOWN: { order: ['DELIVERED', 2], replace: ['DELIVERED', 2], abandon: ['ABANDONED', 0] },
  OTHER_ITEMS: { order: ['DELIVERED', 2], abandon: ['ABANDONED', 0], deliver: ['PARTIALLY_DELIVERED', 3] },
  ORDER_OF_ANOTHER_PURCHASE: { order: ['DELIVERED', 2], abandon: ['ABANDONED', 0], deliver: ['DELIVERED', 2] },
  MORE_KEYS_THAN_ORDERED: { deliver: ['DELIVERED', 3], withhold: ['ABANDONED', 0] },
  ORDER_CHANGES: { deliver: ['DELIVERED', 2], withhold: ['ABANDONED', 0] },
  ORDER_TOO_LARGE: { deliver: ['DELIVERED', 2], withhold: ['ABANDONED', 0] },
  DELIVERY_REFUSED: { deliver: ['DELIVERED', 2], withhold: ['ABANDONED', 0] },
  DELIVERY_EXHAUSTED: { deliver: ['DELIVERED', 2], withhold: ['ABANDONED', 0] },
};
const ROWS = (Object.keys(POSSIBLE) as HoldReason[]).flatMap((reason) => {
  const possible = Object.keys(POSSIBLE[reason]) as Decision[];
  return possible.map((decision) => ({ reason, possible, decision, comesTo: POSSIBLE[reason][decision]! }));
});

describe('a held purchase', () => {
  const env = sharedEnvironment({ settings: { replace: 'never' }, pastOrders: 3 });

  it.concurrent.each(ROWS)(
    'held as $reason: records a refusal of decisions that do not fit, accepts $decision and ends as $comesTo',
    async ({ reason, possible, decision, comesTo: [outcome, keys] }) => {
      const { referenceId, operator, decide, hold } = await heldPurchase(env, reason);

      await waitUntil('the checkout knows of the hold', () => env.eventTypes(referenceId).includes('purchase.held'));
      const event = env.receiver.eventsOf(referenceId).find(({ type }) => type === 'purchase.held');
      expect(event?.data).toMatchObject({ reason, decisions: hold.decisions, explanation: hold.explanation });

      expect(hold.decisions.toSorted()).toEqual(possible.toSorted());
      for (const other of DECISIONS.filter((kind) => !possible.includes(kind))) {
        await expectRefusal(
          operator.resolve(other, { orderId: 'some-order' }),
          `${other} is not possible for ${reason}`,
        );
      }
      const another = { holdId: `${hold.id}0`, orderId: 'some-order' };
      await expectRefusal(operator.resolve(possible[0]!, another), 'check the status again');
      expect(await env.starter.status(referenceId)).toMatchObject({ state: 'HELD', hold: { id: hold.id } });
      expect(await operator.updatesOnRecord()).toBe(DECISIONS.length - possible.length + 1);

      await decide(decision);

      const result = await operator.result();
      expect(result).toMatchObject({ outcome });
      // A checkout must not wait for keys of items that an operator exchanged.
      if (outcome === 'PARTIALLY_DELIVERED') expect(result.reason).toContain('an operator accepted the order with');
      expect((await env.audit(referenceId)).received).toHaveLength(keys);
      // An order that keeps changing loses keys, which a notice names.
      const types = env.eventTypes(referenceId).filter((type) => type !== 'purchase.attention');
      expect(types).toEqual(['purchase.held', `purchase.${outcome.toLowerCase()}`]);
      expect(await operator.brokenTasks()).toEqual([]);
    },
  );

  it.concurrent(
    'records a refusal of a decision that arrives with the start, because the handler already exists',
    async () => {
      const referenceId = env.reference();
      const startWorkflowOperation = new WithStartWorkflowOperation(PURCHASE_WORKFLOW, {
        workflowId: purchaseWorkflowId(referenceId),
        taskQueue: env.taskQueue,
        args: [{ referenceId, items: [{ productId: 'demo-instant', quantity: 1 }] }],
        workflowIdConflictPolicy: 'FAIL',
      });
      const resolving = env.client.workflow.executeUpdateWithStart<Workflow, void, [ResolveUpdateInput]>(
        RESOLVE_UPDATE,
        {
          startWorkflowOperation,
          args: [{ holdId: 'none-is-open-yet', decision: 'abandon' }],
        },
      );

      await expectRefusal(resolving, 'no hold is waiting for a decision');
      expect(await operatorOf(env, referenceId).updatesOnRecord()).toBe(1);
      await expectDeliveredOnce(env, referenceId, 1);
    },
  );

  it.concurrent('accepts one of two decisions for a hold, and records a refusal of the other', async () => {
    const { operator, decide, hold } = await heldPurchase(env, 'MORE_KEYS_THAN_ORDERED');

    const both = await Promise.allSettled([decide('withhold', hold.id), decide('withhold', hold.id)]);

    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(await operator.result()).toMatchObject({ outcome: 'ABANDONED' });
  });

  it.concurrent('opens another hold when the order that the operator named is not usable either', async () => {
    const { referenceId, operator, hold: first } = await heldPurchase(env, 'PLACEMENT_UNKNOWN');
    const other = await env.orderByHand({ 'demo-image': 1 }, `other-${referenceId}`);

    await operator.resolve('order', { orderId: other.id });
    const second = await operator.held('OTHER_ITEMS');

    expect(second.id).not.toBe(first.id);
    await expectRefusal(operator.resolve('abandon', { holdId: first.id }), 'check the status again');
    expect((await env.audit(referenceId)).received).toEqual([]);
    await operator.resolve('abandon', { holdId: second.id });
    expect(await operator.result()).toMatchObject({ outcome: 'ABANDONED' });
  });

  it.concurrent('no longer reports the hold once it is decided', async () => {
    const { referenceId, operator } = await purchaseBeforeHold(env, 'PLACEMENT_UNKNOWN');
    env.receiver.responseTo(referenceId, 500, 'purchase.held');
    await operator.pending('deliverNotice', 2);
    const open = await env.orderByHand({ 'demo-never': 2 }, `open-${referenceId}`);

    await operator.resolve('order', { orderId: open.id });
    await operator.pending('pollUntilEnded', 2);

    await waitUntil('the hold is no longer notified', async () => !(await operator.isPending('deliverNotice')));
    expect(env.eventTypes(referenceId)).toEqual([]);
  });

  it.concurrent('refuses an invalid decision before it reaches the history, so nothing is recorded', async () => {
    const { referenceId, operator } = await heldPurchase(env, 'MORE_KEYS_THAN_ORDERED');
    const noHold = { decision: 'abandon' };
    const unknown = { holdId: 'x', decision: 'buy' };
    const noOrder = { holdId: 'x', decision: 'order' };
    const pathOfAnother = { ...noOrder, orderId: '../keys' };
    const large = 'x'.repeat(1_800_000);
    const largeOnes = [
      [{ holdId: large, decision: 'abandon' }],
      [{ holdId: 'x', decision: 'abandon', large }],
      [{}, large],
    ];
    const small = [undefined, null, 'abandon', noHold, unknown, noOrder, pathOfAnother].map((given) => [given]);

    for (const args of [...small, ...largeOnes]) {
      const refused = env
        .handleOf(referenceId)
        .executeUpdate<unknown, [unknown]>(RESOLVE_UPDATE, { args: args as [unknown] });
      await expect(refused).rejects.toThrow(WorkflowUpdateFailedError);
    }

    expect(await operator.updatesOnRecord()).toBe(0);
    expect(await env.starter.status(referenceId)).toMatchObject({ state: 'HELD' });
    expect(await operator.brokenTasks()).toEqual([]);
  });
});

describe('an order that an operator names, which is checked before it is adopted', () => {
  // Long enough that a hanging read lasts until the test ends it.
  const settings = { replace: 'never', confirmWindowMs: 200, partnerTimeoutMs: 10_000 } as const;
  const env = sharedEnvironment({ settings, pastOrders: 3 });

  const held = () => heldPurchase(env, 'PLACEMENT_UNKNOWN');

  it.concurrent.each<[string, string, () => Promise<string> | string]>([
    ['the partner does not have', 'the partner has no order', () => 'never-there'],
    [
      'another purchase has adopted, even if the history cannot be read',
      'belongs to purchase',
      async () => {
        const { orderId = '' } = await env.bought({ 'demo-instant': 2 });
        await env.untilListed(`${PARTNER_ORDER_ID.name} = '${orderId}'`, 1);
        const action = { type: 'answer', status: 500 } as const;
        env.sandbox.addFault({ operation: 'orders', orderId, times: 'always', action });
        return orderId;
      },
    ],
    [
      'has the reference of another purchase that has not found it yet',
      'belongs to purchase',
      async () => {
        const { operator, referenceId } = await held();
        const { id } = await env.orderByHand({ 'demo-instant': 2 }, referenceId);
        expect(await operator.scheduled('pollUntilEnded')).toEqual([]);
        return id;
      },
    ],
  ])('refuses an order that %s, and keeps the hold open for other decisions', async (_, reason, name) => {
    const { operator, decide, hold, right } = await held();
    await expectRefusal(operator.resolve('order', { holdId: hold.id, orderId: await name() }), reason);

    expect(await operator.updatesOnRecord()).toBe(1);
    await decide('order', hold.id);
    expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED', orderId: right });
  });

  it.concurrent(
    'is refused when another decision arrives while it is read, and the purchase ends without it',
    async () => {
      const { referenceId, operator, decide, hold, right } = await held();
      env.sandbox.addFault({ operation: 'keys', orderId: right, times: 'always', action: { type: 'hang' } });
      const late = expectRefusal(decide('order', hold.id), 'no hold is waiting for a decision');
      await operator.pending('checkOrder');

      await expectRefusal(operator.resolve('order', { holdId: hold.id, orderId: 'o-2' }), 'is already being checked');
      await operator.resolve('abandon', { holdId: hold.id });
      await waitUntil('the end is notified', () => env.eventTypes(referenceId).includes('purchase.abandoned'));
      await operator.complete('checkOrder', { usable: true });

      await late;
      expect(await operator.result()).toMatchObject({ outcome: 'ABANDONED' });
      expect(await operator.brokenTasks()).toEqual([]);
    },
  );
});

async function expectRefusal(resolving: Promise<void>, reason: string): Promise<void> {
  const error = await rejectionOf<unknown>(resolving);
  const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined;
  expect(cause).toBeInstanceOf(ApplicationFailure);
  expect(cause).toMatchObject({ type: 'DecisionRefused', message: expect.stringContaining(reason) });
}
