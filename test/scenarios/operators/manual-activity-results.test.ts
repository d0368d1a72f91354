import { expectDeliveredOnce, expectNoChangedEvents } from '../../support/checks';
import { type Operator, operatorOf } from '../../support/operator';
import type { Answer } from '../../support/receiver';
import { sharedEnvironment } from '../../support/test-environment';
import { UNDECODABLE_VALUES } from '../../support/undecodable';
import { waitUntil } from '../../support/wait-until';

const JUNK: [string, unknown][] = [
  ['nothing', null],
  ['a word', 'done'],
  ['an empty object', {}],
  ['a list', []],
  ['what can not be decoded', UNDECODABLE_VALUES[0]],
];

/** Instead of completed. */
const FAILED: [string, unknown] = ['a failure', undefined];

const end = (operator: Operator, activity: string, result: unknown) =>
  result === undefined ? operator.fail(activity) : operator.complete(activity, result);

describe('an activity that an operator completes or fails', () => {
  // Attempts that hang last until a person has ended them.
  const env = sharedEnvironment({ settings: { partnerTimeoutMs: 4_000, deliveryTimeoutMs: 4_000 } });
  const silent = new Map<string, Answer>();

  beforeAll(() => {
    env.sandbox.addPastOrders({ count: 3 });
    env.receiver.answerWith(({ body }) => silent.get(body.data.referenceId) ?? 204);
  });
  expectNoChangedEvents(env);
  async function placing() {
    const referenceId = env.reference();
    env.sandbox.addFault({ operation: 'place', referenceId, when: 'after', action: { type: 'hang' } });
    await env.buy({ 'demo-instant': 1 }, referenceId);
    await waitUntil('the placement is on its way', () => env.sandbox.placeRequestsOf(referenceId) === 1);
    return { referenceId, operator: operatorOf(env, referenceId) };
  }

  it.concurrent.each([
    ...JUNK,
    ['orders that are none', { evidence: 'FOUND', orders: [null, 'REF'] }],
    ['an order id that is none', { evidence: 'PLACED', orderId: 7 }],
    ['an order id that would change the path', { evidence: 'PLACED', orderId: '../x' }],
    FAILED,
  ])(
    'placeOrder ended by an operator with %s is of unknown outcome: the order is found, and not placed again',
    async (_, junk) => {
      const { referenceId, operator } = await placing();

      await end(operator, 'placeOrder', junk);

      expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED' });
      await expectDeliveredOnce(env, referenceId, 1);
      expect(await operator.brokenTasks()).toEqual([]);
    },
  );

  it.concurrent.each([
    ...JUNK,
    ['an order without lines', { orderId: 'x', status: 'COMPLETED' }],
    ['lines that are none', { orderId: 'x', status: 'COMPLETED', lines: [null] }],
    ["another order's view", { orderId: 'x', status: 'FAILED', lines: [] }],
    FAILED,
  ])('awaitOrderChange ended by an operator with %s does not end the polling', async (_, junk) => {
    const referenceId = await env.buy({ 'demo-never': 1 });
    const operator = operatorOf(env, referenceId);
    await operator.pending('awaitOrderChange', 2);

    if (junk === undefined) {
      const [open] = await env.sandbox.ordersOf(referenceId);
      env.sandbox.addFault({ operation: 'keys', orderId: open!.id, action: { type: 'hang' } });
    }
    await end(operator, 'awaitOrderChange', junk);

    await waitUntil(
      'awaitOrderChange is scheduled',
      async () => (await operator.scheduled('awaitOrderChange')).length > 1,
    );
    const [order] = await env.sandbox.ordersOf(referenceId);
    await env.sandbox.changeOrder(order!.id, { status: 'COMPLETED' });
    expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED' });
    const { issued, received } = await env.audit(referenceId);
    expect(received).toEqual(issued);
    expect(received).toHaveLength(1);
    expect(await operator.brokenTasks()).toEqual([]);
  });

  it.concurrent.each([...JUNK, FAILED])(
    'deliverSale ended by an operator with %s is not delivered: it is held, and sent under the same id when an operator says so',
    async (_, junk) => {
      const referenceId = env.reference();
      // An attempt can be failed only while it runs.
      silent.set(referenceId, junk === undefined ? 'hang' : 500);
      await env.buy({ 'demo-instant': 2 }, referenceId);
      const operator = operatorOf(env, referenceId);
      await operator.pending('deliverSale', 2);

      await end(operator, 'deliverSale', junk);
      const hold = await operator.held('DELIVERY_EXHAUSTED');
      expect(hold.explanation).not.toContain('for a day');
      expect(env.eventTypes(referenceId)).toEqual([]);
      silent.delete(referenceId);
      await operator.resolve('deliver');

      expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED' });
      const { issued, received } = await env.audit(referenceId);
      expect(received).toEqual(issued);
      const ids = env.receiver.attempts
        .filter(({ body }) => body.type === 'purchase.delivered' && body.data.referenceId === referenceId)
        .map(({ id }) => id);
      expect(new Set(ids).size).toBe(1);
      expect(await operator.brokenTasks()).toEqual([]);
    },
  );
});
