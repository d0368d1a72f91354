import { expectDeliveredOnce } from '../../support/checks';
import { type Operator, operatorOf } from '../../support/operator';
import { sharedEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';

describe('a purchase that someone cancels, terminates or starts again', () => {
  const env = sharedEnvironment({ settings: { replace: 'never' } });
  const silent = new Set<string>();

  beforeAll(() => {
    env.sandbox.addPastOrders({ count: 3 });
    env.receiver.answerWith(({ body }) => (silent.has(body.data.referenceId) ? 500 : 204));
  });

  async function started(product: string, prepare: (referenceId: string) => void = () => {}) {
    const referenceId = env.reference();
    prepare(referenceId);
    await env.buy({ [product]: 2 }, referenceId);
    return { referenceId, operator: operatorOf(env, referenceId) };
  }

  /** Whatever the moment of the cancel was: paid goods reach the checkout, and the result says that it was asked for. */
  async function seenThrough(referenceId: string, operator: Operator) {
    expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED', cancelRequested: true });
    await expectDeliveredOnce(env, referenceId, 2);
  }

  it.concurrent('before the placement is sent, ends CANCELLED and never sends it', async () => {
    const { referenceId, operator } = await started('demo-instant', (id) =>
      env.sandbox.addFault({
        ...{ operation: 'orders', referenceId: id, times: 'always' },
        action: { type: 'answer', status: 503 },
      }),
    );
    await waitUntil('placeOrder is scheduled', async () => (await operator.scheduled('placeOrder')).length > 0);

    await operator.cancel();

    expect(await operator.result()).toMatchObject({ outcome: 'CANCELLED', cancelRequested: true });
    expect(await env.audit(referenceId)).toMatchObject({ orderCount: 0, requests: 0 });
    expect(env.eventTypes(referenceId)).toEqual(['purchase.cancelled']);
  });

  it.concurrent('while the placement is on its way, is only noted: the order is bought and delivered', async () => {
    const { referenceId, operator } = await started('demo-instant', (id) =>
      env.sandbox.addFault({ operation: 'place', referenceId: id, action: { type: 'delay', ms: 500 } }),
    );
    await waitUntil('the placement is on its way', () => env.sandbox.placeRequestsOf(referenceId) === 1);

    await operator.cancel();

    await seenThrough(referenceId, operator);
  });

  it.concurrent('while a placement without an answer is settled, the order that is found is seen through', async () => {
    env.sandbox.settings({ historyLagRequests: 0 });
    const { referenceId, operator } = await started('demo-instant', (id) => {
      env.sandbox.addFault({ operation: 'place', referenceId: id, when: 'after', action: { type: 'reset' } });
      env.sandbox.addFault({
        ...{ operation: 'orders', referenceId: id, nth: 2, times: 2 },
        action: { type: 'answer', status: 503 },
      });
    });
    await env.untilState(referenceId, 'UNCONFIRMED');

    await operator.cancel();

    await seenThrough(referenceId, operator);
  });

  it.concurrent('while a placement without an answer is settled, ends CANCELLED if no order came of it', async () => {
    const { referenceId, operator } = await started('demo-instant', (id) =>
      env.sandbox.addFault({ operation: 'place', referenceId: id, action: { type: 'reset' } }),
    );
    await env.untilState(referenceId, 'UNCONFIRMED');

    await operator.cancel();

    expect(await operator.result()).toMatchObject({ outcome: 'CANCELLED', cancelRequested: true });
    expect(await env.audit(referenceId)).toMatchObject({ orderCount: 0, requests: 1 });
  });

  it.concurrent('while it is held with the order shown absent, ends CANCELLED and never places', async () => {
    const { referenceId, operator } = await started('demo-instant', (id) =>
      env.sandbox.addFault({ operation: 'place', referenceId: id, action: { type: 'reset' } }),
    );
    await operator.held('PLACEMENT_UNKNOWN');

    await operator.cancel();

    expect(await operator.result()).toMatchObject({ outcome: 'CANCELLED', cancelRequested: true });
    expect(await env.audit(referenceId)).toMatchObject({ orderCount: 0, requests: 1 });
  });

  it.concurrent(
    'while it is held with the history unreadable, stays held: an order may exist, so a person decides',
    async () => {
      const { referenceId, operator } = await started('demo-instant', (id) => {
        env.sandbox.addFault({ operation: 'place', referenceId: id, when: 'after', action: { type: 'reset' } });
        env.sandbox.addFault({
          ...{ operation: 'orders', referenceId: id, nth: 2, times: 'always' },
          action: { type: 'answer', status: 503 },
        });
      });
      await operator.held('PLACEMENT_UNKNOWN');

      await operator.cancel();
      await operator.cancelRequested();
      await operator.idle();
      expect(await env.starter.status(referenceId)).toMatchObject({ state: 'HELD', execution: 'RUNNING' });

      const [order] = await env.sandbox.ordersOf(referenceId);
      await operator.resolve('order', { orderId: order!.id });
      await seenThrough(referenceId, operator);
    },
  );

  it.concurrent('while the order is polled, is only noted', async () => {
    const { referenceId, operator } = await started('demo-never');
    await operator.pending('awaitOrderChange', 2);

    await operator.cancel();
    const [order] = await env.sandbox.ordersOf(referenceId);
    await env.sandbox.changeOrder(order!.id, { status: 'COMPLETED' });

    await seenThrough(referenceId, operator);
  });

  it.concurrent('while the keys are delivered, is only noted: the event is tried on', async () => {
    const { referenceId, operator } = await started('demo-instant', (id) => silent.add(id));
    await operator.pending('deliverSale', 2);

    await operator.cancel();
    await operator.cancelRequested();
    silent.delete(referenceId);

    await seenThrough(referenceId, operator);
  });

  it.concurrent.each([
    ['while it is polled', 'demo-never', (operator: Operator) => operator.pending('awaitOrderChange', 2)],
    ['after its end', 'demo-instant', (operator: Operator) => operator.result()],
  ] as const)(
    'terminated or ended %s, a start of the same sale finds it and buys nothing',
    async (_, product, moment) => {
      const { referenceId, operator } = await started(product);
      await moment(operator);
      if (product === 'demo-never') await operator.terminate();

      const again = await env.starter.purchase({ referenceId, items: [{ productId: product, quantity: 2 }] });

      expect(again.started).toBe(false);
      expect(await env.audit(referenceId)).toMatchObject({ orderCount: 1, requests: 1 });
    },
  );

  it.concurrent('terminated and then reset, sees its order through and buys nothing', async () => {
    const { referenceId, operator } = await started('demo-never');
    await operator.pending('awaitOrderChange', 2);
    await operator.terminate();
    const [order] = await env.sandbox.ordersOf(referenceId);
    await env.sandbox.changeOrder(order!.id, { status: 'COMPLETED' });

    const [first] = await operator.points();
    await operator.reset(first!);

    expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED', orderId: order!.id });
    expect(await env.audit(referenceId)).toMatchObject({ orderCount: 1, requests: 1 });
  });
});
