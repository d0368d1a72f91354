import { setTimeout as sleep } from 'node:timers/promises';
import { RESOLVE_UPDATE, STATUS_QUERY } from '../../../src/contracts/names';
import { rejectionOf } from '../../support/checks';
import { type Operator, operatorOf } from '../../support/operator';
import { expectDeliveredOnce } from '../../support/purchase-checks';
import { sharedEnvironment } from '../../support/test-environment';
import { UNDECODABLE_VALUES } from '../../support/undecodable';
import { waitUntil } from '../../support/wait-until';

const JUNK: [string, unknown][] = [
  ['nothing', null],
  ['a word', 'done'],
  ['an empty object', {}],
  ['a list', []],
  ['undecodable data', UNDECODABLE_VALUES[0]],
];

/** In place of a completed activity. */
const FAILED: [string, unknown] = ['a failure', undefined];

const end = (operator: Operator, activity: string, result: unknown) =>
  result === undefined ? operator.fail(activity) : operator.complete(activity, result);

describe('an operator who completes or fails an activity by hand', () => {
  // Attempts that hang last until an operator ends them.
  const env = sharedEnvironment({ settings: { partnerTimeoutMs: 4_000, deliveryTimeoutMs: 4_000 }, pastOrders: 3 });

  it.concurrent.each([
    ...JUNK,
    ['a list without orders', { evidence: 'FOUND', orders: [null, 'REF'] }],
    ['an invalid order id', { evidence: 'PLACED', orderId: 7 }],
    ['an order id that would change the URL path', { evidence: 'PLACED', orderId: '../x' }],
    FAILED,
  ])('placeOrder ended with %s counts as unknown: the order is found and not placed again', async (_, junk) => {
    const referenceId = await env.buyFacing({ operation: 'place', when: 'after', action: { type: 'hang' } });
    await env.untilSent(referenceId);

    await end(operatorOf(env, referenceId), 'placeOrder', junk);

    await expectDeliveredOnce(env, referenceId, 1);
  });

  it.concurrent('a reason of any length is one short line in the hold and in its event', async () => {
    const referenceId = await env.buyFacing({ operation: 'place', action: { type: 'hang' } });
    await env.untilSent(referenceId);
    const reason = 'a long\nreason '.repeat(10_000);

    const operator = operatorOf(env, referenceId);
    await operator.complete('placeOrder', { evidence: 'UNKNOWN', reason, inFlight: false });

    const { explanation } = await operator.held('PLACEMENT_UNKNOWN');
    expect(explanation).toMatch(/^[^\n]{20,1000}$/);
  });

  it.concurrent.each([
    ...JUNK,
    ['an order without lines', { orderId: 'x', status: 'COMPLETED' }],
    ['invalid lines', { orderId: 'x', status: 'COMPLETED', lines: [null] }],
    ['the view of another order', { orderId: 'x', status: 'FAILED', lines: [] }],
    FAILED,
  ])('pollUntilEnded ended with %s does not stop the polling', async (_, junk) => {
    const referenceId = await env.buy({ 'demo-never': 1 });
    const operator = operatorOf(env, referenceId);
    await operator.pending('pollUntilEnded', 2);

    const { id: orderId } = await env.orderOf(referenceId);
    if (junk === undefined) env.sandbox.addFault({ operation: 'keys', orderId, action: { type: 'hang' } });
    await end(operator, 'pollUntilEnded', junk);

    const polls = async () => (await operator.scheduled('pollUntilEnded')).length;
    await waitUntil('pollUntilEnded is scheduled again', async () => (await polls()) > 1);
    await env.changeOrder(referenceId, { status: 'COMPLETED' });
    await expectDeliveredOnce(env, referenceId, 1);
  });

  it.concurrent.each([...JUNK, FAILED])(
    'deliverSale ended with %s is held, then sent under its own id',
    async (_, junk) => {
      const referenceId = env.reference();
      // An attempt can be failed only while it runs.
      env.receiver.responseTo(referenceId, junk === undefined ? 'hang' : 500);
      await env.buy({ 'demo-instant': 2 }, referenceId);
      const operator = operatorOf(env, referenceId);
      await operator.pending('deliverSale', 2);

      await end(operator, 'deliverSale', junk);
      const hold = await operator.held('DELIVERY_EXHAUSTED');
      expect(hold.explanation).not.toContain('for 25 hours');
      expect(env.eventTypes(referenceId)).not.toContain('purchase.delivered');
      env.receiver.take(referenceId);
      await operator.resolve('deliver');

      await expectDeliveredOnce(env, referenceId, 2);
      const sent = env.receiver.attemptsOf(referenceId).filter(({ body }) => body.type === 'purchase.delivered');
      expect(new Set(sent.map(({ id }) => id)).size).toBe(1);
    },
  );

  it.concurrent('a delivery that is failed while it reads the keys sends nothing, and is then held', async () => {
    const { referenceId, operator, orderId } = await undelivered();
    const reading = env.sandbox.addFault({ operation: 'keys', orderId, action: { type: 'delay', ms: 3_000 } });
    await waitUntil('an attempt reads the keys', () => reading.hits === 1);
    env.receiver.take(referenceId);

    await operator.fail('deliverSale');
    await untilHeld(operator, referenceId);
    await operator.resolve('withhold');

    expect(await operator.result()).toMatchObject({ outcome: 'ABANDONED' });
    expect(env.eventTypes(referenceId)).toEqual(['purchase.held', 'purchase.abandoned']);
  });

  it.concurrent(
    'a delivery that is failed while the checkout receives it is held only when it has arrived',
    async () => {
      const { referenceId, operator } = await undelivered();
      let accept: (answer: number) => void = () => undefined;
      const answer = new Promise<number>((resolve) => (accept = resolve));
      env.receiver.responseTo(referenceId, answer, 'purchase.delivered');
      const tries = env.receiver.attemptsOf(referenceId).length;
      await waitUntil('an attempt posts', () => env.receiver.attemptsOf(referenceId).length > tries);

      await operator.fail('deliverSale');
      // It must not be held before the checkout answers, although nothing else delays the hold.
      await Promise.race([operator.held('DELIVERY_EXHAUSTED'), sleep(2_000)]);
      accept(204);
      await untilHeld(operator, referenceId);

      expect(env.eventTypes(referenceId)).toEqual(['purchase.delivered', 'purchase.held']);
      await operator.resolve('deliver');
      await expectDeliveredOnce(env, referenceId, 1);
    },
  );

  /** A purchase whose event the checkout does not accept yet. */
  async function undelivered() {
    const referenceId = env.reference();
    env.receiver.responseTo(referenceId, 500);
    await env.buy({ 'demo-instant': 1 }, referenceId);
    const operator = operatorOf(env, referenceId);
    await operator.pending('deliverSale', 2);
    const { id: orderId } = await env.orderOf(referenceId);
    return { referenceId, operator, orderId };
  }

  async function untilHeld(operator: Operator, referenceId: string) {
    await operator.held('DELIVERY_EXHAUSTED');
    await waitUntil('the checkout knows', () => env.eventTypes(referenceId).includes('purchase.held'));
  }

  it.concurrent('an undecodable signal, query or update does not break a purchase', async () => {
    const referenceId = await env.buy({ 'demo-never': 1 });
    await operatorOf(env, referenceId).pending('pollUntilEnded', 2);
    const purchase = env.handleOf(referenceId);
    for (const value of UNDECODABLE_VALUES) {
      await purchase.signal('orderChanged', value);
      expect(await purchase.query(STATUS_QUERY, value)).toMatchObject({ state: 'PENDING' });
      const refused = await rejectionOf(purchase.executeUpdate(RESOLVE_UPDATE, { args: [value] }));
      expect(refused).toMatchObject({ name: 'WorkflowUpdateFailedError' });
    }

    await env.changeOrder(referenceId, { status: 'COMPLETED' });
    await expectDeliveredOnce(env, referenceId, 1);
  });

  it.concurrent(
    'the largest start, signal or query that the server accepts stalls no purchase and is not copied',
    async () => {
      const referenceId = env.reference();
      const large = 'x'.repeat(1_900_000);
      const items = [{ productId: 'demo-never', quantity: 1, large }];
      // With a memo of ours added, this one would be too large.
      const memo = { large: 'x'.repeat(2_097_000) };
      const purchase = await env.startRaw(referenceId, { args: [{ referenceId, items }], memo });
      await operatorOf(env, referenceId).pending('pollUntilEnded', 2);
      await purchase.signal('orderChanged', large);
      await expect(purchase.query(large)).rejects.toThrow('no such query');
      expect(await purchase.query(STATUS_QUERY, large)).toMatchObject({ state: 'PENDING' });
      await env.bought({ 'demo-instant': 1 });

      await env.changeOrder(referenceId, { status: 'COMPLETED' });
      expect(await env.starter.result(referenceId)).toMatchObject({ outcome: 'DELIVERED' });
      const { historySize = 0, memo: closing } = await purchase.describe();
      expect(historySize).toBeLessThan(2 * large.length + memo.large.length + 100_000);
      expect(closing).toMatchObject({ delivered: 1 });
    },
  );
});
