import { expectNoChangedEvents } from '../../support/checks';
import { changeAtEachRead } from '../../support/held-purchases';
import { operatorOf } from '../../support/operator';
import type { Answer } from '../../support/receiver';
import { sharedEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';

describe('an order that changes between its review and the receipt of its event', () => {
  const env = sharedEnvironment();
  const answers = new Map<string, Answer>();

  beforeAll(() => {
    env.receiver.answerWith(({ body }) =>
      ['purchase.held', 'purchase.attention'].includes(body.type) ? 204 : (answers.get(body.data.referenceId) ?? 204),
    );
  });
  expectNoChangedEvents(env);

  /** An order that is as given, whose event the checkout refuses for now. */
  async function waitingForDelivery(product: string, quantity: number, answer: Answer = 503) {
    const referenceId = env.reference();
    answers.set(referenceId, answer);
    await env.buy({ [product]: quantity }, referenceId);
    const operator = operatorOf(env, referenceId);
    const order = await waitUntil('there is an order', async () => (await env.sandbox.ordersOf(referenceId))[0]);
    return { referenceId, operator, orderId: order.id };
  }

  const valuesOf = (referenceId: string, type = 'purchase.') =>
    env.receiver.attempts
      .filter(({ body }) => body.data.referenceId === referenceId && body.type.startsWith(type))
      .map(({ id, body }) => {
        const keys = (body.data.lines ?? []).flatMap((line) => line.keys ?? []);
        return { id, ids: keys.map((key) => key.id), keys: keys.map((key) => key.value) };
      });
  const alertsOf = (referenceId: string) =>
    env.receiver
      .eventsOf(referenceId)
      .filter(({ data }) => data.kind === 'DELIVERED_KEYS_GONE')
      .map(({ data }) => data.details);

  it.concurrent(
    'is delivered as it is by then: a fuller one with all of its keys, in an event of its own',
    async () => {
      const { referenceId, operator, orderId } = await waitingForDelivery('demo-never', 4, 'take-and-reset');
      const all = ['A', 'B', 'C', 'D'].map((letter) => `${letter}-${referenceId}`);
      await env.sandbox.changeOrder(orderId, { status: 'PARTIAL_COMPLETED', keys: [all.slice(0, 2)] });
      await operator.pending('deliverSale', 2);
      await env.sandbox.changeOrder(orderId, { status: 'COMPLETED', keys: [all] });
      answers.delete(referenceId);

      expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED' });
      expect(env.eventTypes(referenceId)).toEqual(['purchase.partially_delivered', 'purchase.delivered']);
      expect(valuesOf(referenceId, 'purchase.delivered').map(({ keys }) => keys)).toEqual([all]);
      expect((await env.audit(referenceId)).received).toEqual(all);
    },
  );

  it.concurrent('is reviewed again before anything is sent, and there is nothing to raise an alert about', async () => {
    const { referenceId, operator, orderId } = await waitingForDelivery('demo-never', 2, 204);
    changeAtEachRead(env, { orderId, product: 'demo-never', reads: 6 });
    await env.sandbox.changeOrder(orderId, { status: 'COMPLETED', keys: [[`A-${referenceId}`, `B-${referenceId}`]] });

    expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED' });
    expect(valuesOf(referenceId)).toMatchObject([{ keys: [`A-${referenceId}`, `B-${referenceId}`] }]);
  });

  it.concurrent(
    'replaces keys that may have been delivered: the new ones are sent, and an alert names the old',
    async () => {
      const { referenceId, operator, orderId } = await waitingForDelivery('demo-instant', 2);
      await operator.pending('deliverSale', 2);
      const [before] = valuesOf(referenceId);
      await env.sandbox.changeOrder(orderId, { keys: [[`X-${referenceId}`, before!.keys[1]!]] });
      answers.delete(referenceId);

      expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED' });
      expect(valuesOf(referenceId, 'purchase.delivered').at(-1)!.keys).toEqual([`X-${referenceId}`, before!.keys[1]]);
      expect(alertsOf(referenceId)).toEqual([{ maybeDelivered: [before!.ids[0]], count: 1 }]);
    },
  );

  it.concurrent('and shows no end any more is held, never called overdue', async () => {
    const { referenceId, operator, orderId } = await waitingForDelivery('demo-instant', 2);
    await operator.pending('deliverSale', 2);
    await env.sandbox.changeOrder(orderId, { status: 'PROCESSING' });
    answers.delete(referenceId);
    const first = await operator.held('ORDER_CHANGES');

    await operator.resolve('deliver');
    await operator.held('ORDER_CHANGES', first);
    await env.sandbox.changeOrder(orderId, { status: 'COMPLETED' });
    await operator.resolve('deliver');

    expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED' });
    const { issued, received } = await env.audit(referenceId);
    expect(received).toEqual(issued);
  });

  it.concurrent(
    'and is refunded ends REFUNDED: no key is sent again, and an alert names those that may have been',
    async () => {
      const { referenceId, operator, orderId } = await waitingForDelivery('demo-instant', 2);
      await operator.pending('deliverSale', 2);
      const [before] = valuesOf(referenceId);
      await env.sandbox.changeOrder(orderId, { status: 'REFUNDED' });
      answers.delete(referenceId);

      expect(await operator.result()).toMatchObject({ outcome: 'REFUNDED' });
      expect(env.eventTypes(referenceId).toSorted()).toEqual(['purchase.attention', 'purchase.refunded']);
      expect(alertsOf(referenceId)).toEqual([{ maybeDelivered: before!.ids, count: 2 }]);
      expect((await env.audit(referenceId)).received).toEqual([]);
    },
  );

  it.concurrent('and is refunded while it still shows its keys ends REFUNDED too: they are not sent', async () => {
    const { referenceId, operator, orderId } = await waitingForDelivery('demo-instant', 2);
    await operator.pending('deliverSale', 2);
    const refunded = { type: 'merge', data: { status: 'REFUNDED' } } as const;
    env.sandbox.addFault({ operation: 'keys', orderId, when: 'after', times: 'always', action: refunded });
    answers.delete(referenceId);

    expect(await operator.result()).toMatchObject({ outcome: 'REFUNDED' });
    expect((await env.audit(referenceId)).received).toEqual([]);
  });

  it.concurrent(
    'more keys than were ordered are shown to a person before any of them leaves, and again if there are more by then',
    async () => {
      const { referenceId, operator, orderId } = await waitingForDelivery('demo-never', 1, 204);
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

  it.concurrent('a key that stands twice in an order is handed over twice: both were paid for', async () => {
    const { referenceId, operator, orderId } = await waitingForDelivery('demo-never', 3, 204);
    const keys = [`SAME-${referenceId}`, `SAME-${referenceId}`, `OTHER-${referenceId}`];
    await env.sandbox.changeOrder(orderId, { status: 'COMPLETED', keys: [keys] });

    expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED', lines: [{ delivered: 3 }] });
    expect(valuesOf(referenceId).map((attempt) => attempt.keys)).toEqual([keys]);
  });
});
