import { expectNoChangedEvents } from '../../support/checks';
import { operatorOf } from '../../support/operator';
import type { Answer } from '../../support/receiver';
import { sharedEnvironment, startTestEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';

const A_QUARTER_OF_AN_HOUR = 15 * 60_000;

describe('what an event hands over is fixed when its order is read', () => {
  const env = sharedEnvironment();
  const answers = new Map<string, Answer>();

  beforeAll(() => {
    env.receiver.answerWith(({ body }) =>
      body.type === 'purchase.held' ? 204 : (answers.get(body.data.referenceId) ?? 204),
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
      .map(({ id, body }) => ({
        id,
        keys: (body.data.lines ?? []).flatMap((line) => line.keys ?? []).map((key) => key.value),
      }));

  it.concurrent(
    'a fuller order after a lost receipt changes nothing of the event: the same keys, the same id',
    async () => {
      const { referenceId, operator, orderId } = await waitingForDelivery('demo-never', 4, 'take-and-reset');
      await env.sandbox.changeOrder(orderId, {
        status: 'PARTIAL_COMPLETED',
        keys: [[`A-${referenceId}`, `B-${referenceId}`]],
      });
      await operator.pending('deliverEvent', 2);

      const all = ['A', 'B', 'C', 'D'].map((letter) => `${letter}-${referenceId}`);
      await env.sandbox.changeOrder(orderId, { status: 'COMPLETED', keys: [all] });
      answers.delete(referenceId);

      expect(await operator.result()).toMatchObject({ outcome: 'PARTIALLY_DELIVERED' });
      const attempts = valuesOf(referenceId);
      expect(attempts.length).toBeGreaterThan(1);
      expect(new Set(attempts.map(({ id }) => id)).size).toBe(1);
      for (const { keys } of attempts) expect(keys).toEqual(all.slice(0, 2));
    },
  );

  it.concurrent('keys that come in another order are the same event', async () => {
    const { referenceId, operator, orderId } = await waitingForDelivery('demo-never', 2);
    await env.sandbox.changeOrder(orderId, { status: 'COMPLETED', keys: [[`A-${referenceId}`, `B-${referenceId}`]] });
    await operator.pending('deliverEvent', 2);

    await env.sandbox.changeOrder(orderId, { keys: [[`B-${referenceId}`, `A-${referenceId}`]] });
    answers.delete(referenceId);

    expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED' });
    for (const { keys } of valuesOf(referenceId)) expect(keys).toEqual([`A-${referenceId}`, `B-${referenceId}`]);
  });

  it.concurrent('a key that is gone holds the purchase: none of another value is slipped in', async () => {
    const { referenceId, operator, orderId } = await waitingForDelivery('demo-instant', 2);
    await operator.pending('deliverEvent', 2);
    await env.sandbox.changeOrder(orderId, { keys: [[`X-${referenceId}`, `Y-${referenceId}`]] });
    answers.delete(referenceId);

    await operator.held('KEY_GONE');
    expect(env.eventTypes(referenceId).filter((type) => type !== 'purchase.held')).toEqual([]);
    const before = valuesOf(referenceId, 'purchase.delivered');
    expect(before.flatMap(({ keys }) => keys)).not.toContain(`X-${referenceId}`);

    await operator.resolve('deliver');
    expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED' });
    const fresh = valuesOf(referenceId, 'purchase.delivered').at(-1)!;
    expect(fresh.keys).toEqual([`X-${referenceId}`, `Y-${referenceId}`]);
    expect(before.map(({ id }) => id)).not.toContain(fresh.id);
  });

  it.concurrent(
    'nor does a reset: what is left of an event that may have arrived goes out anew only by decision',
    async () => {
      const { referenceId, operator, orderId } = await waitingForDelivery('demo-instant', 2, 'take-and-reset');
      await operator.pending('deliverEvent', 2);
      const [kept] = valuesOf(referenceId)[0]!.keys;
      const keys = [kept!, `X-${referenceId}`];
      await env.sandbox.changeOrder(orderId, { keys: [keys] });
      const first = await operator.held('KEY_GONE');

      await operator.reset((await operator.points())[0]!);
      await operator.held('KEY_GONE', first);
      const before = new Set(valuesOf(referenceId, 'purchase.delivered').map(({ id }) => id));
      expect(before.size).toBe(1);

      answers.delete(referenceId);
      await operator.resolve('deliver');
      expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED' });
      const fresh = valuesOf(referenceId, 'purchase.delivered').at(-1)!;
      expect(fresh.keys).toEqual(keys);
      expect(before).not.toContain(fresh.id);
    },
  );

  it.concurrent('a new read that shows no end leaves the event as it was, and never calls it overdue', async () => {
    const { referenceId, operator, orderId } = await waitingForDelivery('demo-instant', 2);
    await operator.pending('deliverEvent', 2);
    await env.sandbox.changeOrder(orderId, { status: 'PROCESSING' });
    answers.delete(referenceId);
    const first = await operator.held('KEY_GONE');

    await operator.resolve('deliver');
    await operator.held('KEY_GONE', first);
    await env.sandbox.changeOrder(orderId, { status: 'COMPLETED' });
    await operator.resolve('deliver');

    expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED' });
    const { issued, received } = await env.audit(referenceId);
    expect(received).toEqual(issued);
  });

  it.concurrent('an order that is refunded before its keys are handed over hands over none', async () => {
    const { referenceId, operator, orderId } = await waitingForDelivery('demo-instant', 2);
    await operator.pending('deliverEvent', 2);
    await env.sandbox.changeOrder(orderId, { status: 'REFUNDED' });
    answers.delete(referenceId);
    await operator.held('KEY_GONE');
    // A decision ends the notice of a hold.
    await waitUntil('the checkout knows of the hold', () => env.eventTypes(referenceId).includes('purchase.held'));

    await operator.resolve('deliver');

    expect(await operator.result()).toMatchObject({ outcome: 'REFUNDED' });
    expect(env.eventTypes(referenceId)).toEqual(['purchase.held', 'purchase.refunded']);
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
    const surplus = await operator.held('MORE_KEYS_THAN_ORDERED');
    await operator.resolve('deliver');
    await operator.pending('deliverEvent', 2);
    const keys = [`A-${referenceId}`, `X-${referenceId}`];
    await env.sandbox.changeOrder(orderId, { keys: [keys] });
    answers.delete(referenceId);
    await operator.held('KEY_GONE', surplus);

    await operator.resolve('deliver');
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
