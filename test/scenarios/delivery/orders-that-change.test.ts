import type { Fault } from '../../../sandbox';
import { STATUS_QUERY } from '../../../src/contracts/names';
import { purchaseMemo } from '../../../src/contracts/purchase';
import { changeAtEachRead, makeTooLarge } from '../../support/held-purchases';
import { operatorOf } from '../../support/operator';
import { starterEnvOf, starterProcess } from '../../support/processes';
import { expectAllKeys } from '../../support/purchase-checks';
import type { Answer } from '../../support/receiver';
import { sharedEnvironment } from '../../support/test-environment';

const SHOWN_AS_REFUNDED: Fault = {
  operation: 'keys',
  when: 'after',
  times: 'always',
  action: { type: 'merge', data: { status: 'REFUNDED' } },
};

describe('an order that changes after its review and before the checkout accepts its event', () => {
  // Long enough for the notice that a checkout does not respond.
  const env = sharedEnvironment({ settings: { deliveryTimeoutMs: 20_000 } });

  /** Buys the product. For now, the checkout responds like this to the events about its outcome. */
  async function bought(product: string, quantity: number, answer: Answer = 503) {
    const referenceId = env.reference();
    env.receiver.responseTo(referenceId, answer);
    await env.buy({ [product]: quantity }, referenceId);
    const { id: orderId } = await env.orderOf(referenceId);
    return { referenceId, operator: operatorOf(env, referenceId), orderId };
  }

  /** The same, and the event has been refused at least once. */
  async function refused() {
    const purchase = await bought('demo-instant', 2);
    await purchase.operator.pending('deliverSale', 2);
    return { ...purchase, before: valuesOf(purchase.referenceId)[0]! };
  }

  const valuesOf = (referenceId: string, type = 'purchase.') =>
    env.receiver
      .attemptsOf(referenceId)
      .filter(({ body }) => body.type.startsWith(type))
      .map(({ id, body }) => {
        const keys = (body.data.lines ?? []).flatMap((line) => line.keys ?? []);
        return { id, ids: keys.map((key) => key.id), keys: keys.map((key) => key.value) };
      });
  const memoOf = async (referenceId: string) =>
    purchaseMemo.parse((await env.handleOf(referenceId).describe()).memo ?? {});
  const noticesOf = (referenceId: string) =>
    env.receiver
      .eventsOf(referenceId)
      .filter(({ data }) => data.kind === 'DELIVERED_KEYS_GONE')
      .map(({ data }) => data.details);

  it.concurrent(
    'delivers all keys of an order that has gained keys, in an event of its own and not under the old id',
    async () => {
      const { referenceId, operator, orderId } = await bought('demo-never', 4, 'take-and-reset');
      const all = ['A', 'B', 'C', 'D'].map((letter) => `${letter}-${referenceId}`);
      await env.sandbox.changeOrder(orderId, { status: 'PARTIAL_COMPLETED', keys: [all.slice(0, 2)] });
      await operator.pending('deliverSale', 2);
      await env.sandbox.changeOrder(orderId, { status: 'COMPLETED', keys: [all] });
      env.receiver.take(referenceId);

      expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED' });
      expect(env.eventTypes(referenceId)).toEqual(['purchase.partially_delivered', 'purchase.delivered']);
      expect(valuesOf(referenceId, 'purchase.delivered').map(({ keys }) => keys)).toEqual([all]);
      expect((await env.audit(referenceId)).received).toEqual(all);
    },
  );

  it.concurrent('reviews the order again before it sends anything', async () => {
    const { referenceId, operator, orderId } = await bought('demo-never', 2, 204);
    changeAtEachRead(env, { orderId, product: 'demo-never', reads: 6 });
    await env.sandbox.changeOrder(orderId, { status: 'COMPLETED', keys: [[`A-${referenceId}`, `B-${referenceId}`]] });

    expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED' });
    const sent = valuesOf(referenceId, 'purchase.delivered');
    expect(sent).toMatchObject([{ keys: [`A-${referenceId}`, `B-${referenceId}`] }]);
  });

  it.concurrent(
    'sends the keys that replaced others, and names in a notice the old keys that may have been delivered',
    async () => {
      const { referenceId, operator, orderId, before } = await refused();
      await env.sandbox.changeOrder(orderId, { keys: [[`X-${referenceId}`, before.keys[1]!]] });
      env.receiver.take(referenceId);

      expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED' });
      expect(valuesOf(referenceId, 'purchase.delivered').at(-1)!.keys).toEqual([`X-${referenceId}`, before.keys[1]]);
      expect(noticesOf(referenceId)).toEqual([{ keyIds: [before.ids[0]], count: 1 }]);
    },
  );

  it.concurrent(
    'shows the outcome while the checkout still refuses the notice, and records the notice only once it is accepted',
    async () => {
      const { referenceId, operator, orderId, before } = await refused();
      let refuse: (answer: Answer) => void = () => undefined;
      env.receiver.responseTo(referenceId, new Promise((resolve) => (refuse = resolve)), 'purchase.attention');
      await env.sandbox.changeOrder(orderId, { keys: [[`X-${referenceId}`, before.keys[1]!]] });

      await env.untilState(referenceId, 'DELIVERED');
      const { stdout } = await starterProcess(['status', referenceId], starterEnvOf(env));
      expect(stdout).toMatch(new RegExp(`^${referenceId} +DELIVERED`));
      expect(await env.handleOf(referenceId).query(STATUS_QUERY)).toMatchObject({ result: { outcome: 'DELIVERED' } });
      expect(await memoOf(referenceId)).toMatchObject({ delivered: 2, events: [{ type: 'purchase.delivered' }] });
      expect(await operator.isPending('deliverNotice')).toBe(true);

      refuse(500);
      await operator.pending('deliverNotice', 2);
      env.receiver.take(referenceId);
      expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED' });
      const types = (await memoOf(referenceId)).events?.map(({ type }) => type);
      expect(types).toEqual(['purchase.delivered', 'purchase.attention']);
    },
  );

  it.concurrent('holds an order that is no longer complete, and does not report it as overdue', async () => {
    const { referenceId, operator, orderId } = await refused();
    await env.sandbox.changeOrder(orderId, { status: 'PROCESSING' });
    env.receiver.take(referenceId);
    const first = await operator.held('ORDER_CHANGES');

    await operator.resolve('deliver');
    await operator.held('ORDER_CHANGES', first);
    await env.sandbox.changeOrder(orderId, { status: 'COMPLETED' });
    await operator.resolve('deliver');

    expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED' });
    await expectAllKeys(env, referenceId, 2);
  });

  it.concurrent.each<[string, (orderId: string) => unknown]>([
    ['', (orderId) => env.sandbox.changeOrder(orderId, { status: 'REFUNDED' })],
    [' while it still shows its keys', (orderId) => env.sandbox.addFault({ ...SHOWN_AS_REFUNDED, orderId })],
  ])(
    'ends REFUNDED when the order is refunded%s: sends no key again and names the keys in a notice',
    async (_, refund) => {
      const { referenceId, operator, orderId, before } = await refused();
      await refund(orderId);
      env.receiver.take(referenceId);

      expect(await operator.result()).toMatchObject({ outcome: 'REFUNDED' });
      expect(env.eventTypes(referenceId).toSorted()).toEqual(['purchase.attention', 'purchase.refunded']);
      expect(noticesOf(referenceId)).toEqual([{ keyIds: before.ids, count: 2 }]);
      expect((await env.audit(referenceId)).received).toEqual([]);
    },
  );

  it.concurrent(
    'holds more keys than were ordered, holds them again if there are more by then, and sends none before the decision',
    async () => {
      const { referenceId, operator, orderId } = await bought('demo-never', 1, 204);
      await env.sandbox.changeOrder(orderId, { status: 'COMPLETED', keys: [[`A-${referenceId}`, `B-${referenceId}`]] });

      const first = await operator.held('MORE_KEYS_THAN_ORDERED');
      const keys = ['A', 'B', 'C'].map((letter) => `${letter}-${referenceId}`);
      await env.sandbox.changeOrder(orderId, { keys: [keys] });
      await operator.resolve('deliver');
      await operator.held('MORE_KEYS_THAN_ORDERED', first);
      expect(valuesOf(referenceId).flatMap((attempt) => attempt.keys)).toEqual([]);

      await operator.resolve('deliver');
      expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED' });
      expect(valuesOf(referenceId, 'purchase.delivered').map((attempt) => attempt.keys)).toEqual([keys]);
    },
  );

  it.concurrent(
    'holds an order that has grown beyond what a worker may read, and sends it once the limit is higher',
    async () => {
      const { referenceId, operator, orderId } = await refused();
      const makeReadable = makeTooLarge(env, orderId);
      const { explanation } = await operator.held('ORDER_TOO_LARGE');
      expect(explanation).toBe('the order could not be read: the response is larger than PARTNER_MAX_BODY');

      makeReadable();
      env.receiver.take(referenceId);
      await operator.resolve('deliver');
      expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED' });
      await expectAllKeys(env, referenceId, 2);
    },
  );

  it.concurrent('delivers a key twice when it is in the order twice, because both were paid for', async () => {
    const { referenceId, operator, orderId } = await bought('demo-never', 3, 204);
    const keys = [`SAME-${referenceId}`, `SAME-${referenceId}`, `OTHER-${referenceId}`];
    await env.sandbox.changeOrder(orderId, { status: 'COMPLETED', keys: [keys] });

    expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED', lines: [{ delivered: 3 }] });
    expect(valuesOf(referenceId).map((attempt) => attempt.keys)).toEqual([keys]);
  });
});
