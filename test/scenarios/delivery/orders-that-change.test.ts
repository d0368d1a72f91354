import { expectNoChangedEvents } from '../../support/checks';
import { changeAtEachRead } from '../../support/held-purchases';
import { operatorOf } from '../../support/operator';
import type { Answer } from '../../support/receiver';
import { sharedEnvironment, startTestEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';

const A_QUARTER_OF_AN_HOUR = 15 * 60_000;

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

  it.concurrent('keys that come in another order are the same event', async () => {
    const { referenceId, operator, orderId } = await waitingForDelivery('demo-never', 2);
    await env.sandbox.changeOrder(orderId, { status: 'COMPLETED', keys: [[`A-${referenceId}`, `B-${referenceId}`]] });
    await operator.pending('deliverSale', 2);

    await env.sandbox.changeOrder(orderId, { keys: [[`B-${referenceId}`, `A-${referenceId}`]] });
    answers.delete(referenceId);

    expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED' });
    for (const { keys } of valuesOf(referenceId)) expect(keys).toEqual([`A-${referenceId}`, `B-${referenceId}`]);
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

  it.concurrent('is delivered anew by a run after a reset, too', async () => {
    const { referenceId, operator, orderId } = await waitingForDelivery('demo-instant', 2, 'take-and-reset');
    await operator.pending('deliverSale', 2);
    const [before] = valuesOf(referenceId);
    const keys = [before!.keys[0]!, `X-${referenceId}`];
    await env.sandbox.changeOrder(orderId, { keys: [keys] });
    answers.delete(referenceId);
    await operator.reset((await operator.points())[0]!);

    expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED' });
    const last = valuesOf(referenceId, 'purchase.delivered').at(-1)!;
    expect(last.keys).toEqual(keys);
    expect(last.ids[0]).toBe(before!.ids[0]);
    expect(last.id).not.toBe(before!.id);
  });

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

  it.concurrent(
    'other items are shown to a person before any key of them leaves, and again if there are more keys by then',
    async () => {
      const referenceId = env.reference();
      const items = [{ id: 'demo-instant', quantity: 2 }];
      env.sandbox.addFault({ operation: 'place', referenceId, commit: { type: 'items', items } });
      await env.buy({ 'demo-seconds': 2 }, referenceId);
      const operator = operatorOf(env, referenceId);

      const first = await operator.held('OTHER_ITEMS');
      const [order] = await env.sandbox.ordersOf(referenceId);
      await env.sandbox.changeOrder(order!.id, { keys: [['A', 'B', 'C'].map((letter) => `${letter}-${referenceId}`)] });
      await operator.resolve('deliver');
      await operator.held('OTHER_ITEMS', first);
      expect(valuesOf(referenceId).flatMap(({ keys }) => keys)).toEqual([]);

      await operator.resolve('abandon');
      expect(await operator.result()).toMatchObject({ outcome: 'ABANDONED' });
      expect(env.eventTypes(referenceId).filter((type) => type !== 'purchase.held')).toEqual(['purchase.abandoned']);
    },
  );

  it.concurrent('what a person has accepted is not asked about again because a key was replaced since', async () => {
    const { referenceId, operator, orderId } = await waitingForDelivery('demo-never', 1);
    await env.sandbox.changeOrder(orderId, { status: 'COMPLETED', keys: [[`A-${referenceId}`, `B-${referenceId}`]] });
    await operator.held('MORE_KEYS_THAN_ORDERED');
    await operator.resolve('deliver');
    await operator.pending('deliverSale', 2);
    const keys = [`A-${referenceId}`, `X-${referenceId}`];
    await env.sandbox.changeOrder(orderId, { keys: [keys] });
    answers.delete(referenceId);
    // Another hold would keep it from its end.
    expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED' });
    expect(valuesOf(referenceId, 'purchase.delivered').at(-1)!.keys).toEqual(keys);
  });

  it.concurrent('a key that stands twice in an order is handed over twice: both were paid for', async () => {
    const { referenceId, operator, orderId } = await waitingForDelivery('demo-never', 3, 204);
    const keys = [`SAME-${referenceId}`, `SAME-${referenceId}`, `OTHER-${referenceId}`];
    await env.sandbox.changeOrder(orderId, { status: 'COMPLETED', keys: [keys] });

    expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED', lines: [{ delivered: 3 }] });
    expect(valuesOf(referenceId).map((attempt) => attempt.keys)).toEqual([keys]);
  });

  it.concurrent.each([
    ['demo-partial-then-complete', 'PARTIALLY_DELIVERED', 2],
    ['demo-complete-then-refunded', 'DELIVERED', 4],
  ] as const)('%s ends %s, and what was delivered stays: nothing comes twice', async (product, outcome, count) => {
    const own = await startTestEnvironment();
    const referenceId = await own.buy({ [product]: 4 });
    const operator = operatorOf(own, referenceId);
    await operator.pending('awaitOrderChange');
    own.sandbox.advance(10_000);
    expect(await operator.result()).toMatchObject({ outcome });
    const { received } = await own.audit(referenceId);
    expect(received).toHaveLength(count);

    own.sandbox.advance(A_QUARTER_OF_AN_HOUR);
    const items = [{ productId: product, quantity: 4 }];
    expect(await own.starter.purchase({ referenceId, items })).toMatchObject({ started: false });

    expect(await operator.result()).toMatchObject({ outcome });
    expect(await own.audit(referenceId)).toMatchObject({ orderCount: 1, requests: 1, received });
  });
});
