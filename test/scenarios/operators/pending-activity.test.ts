import { expectDeliveredOnce, expectNoChangedEvents } from '../../support/checks';
import { type Operator, operatorOf } from '../../support/operator';
import { sharedEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';

/** What the UI and the CLI offer for an activity that has not ended. Each leaves it to go on. */
const OPERATIONS: [string, (operator: Operator, activity: string) => Promise<void>][] = [
  [
    'paused and unpaused',
    async (operator, activity) => {
      await operator.pause(activity);
      await operator.paused(activity);
      await operator.unpause(activity);
    },
  ],
  ['reset', (operator, activity) => operator.resetActivity(activity)],
  ['reset with its heartbeat', (operator, activity) => operator.resetActivity(activity, { resetHeartbeat: true })],
  [
    'paused, reset while it stays so, and unpaused',
    async (operator, activity) => {
      await operator.pause(activity);
      await operator.resetActivity(activity, { keepPaused: true, resetHeartbeat: true });
      await operator.paused(activity);
      await operator.unpause(activity);
    },
  ],
  ['given other options', (operator, activity) => operator.updateOptions(activity)],
];

describe('a pending activity that an operator pauses, resets or changes', () => {
  const env = sharedEnvironment();
  const silent = new Set<string>();

  beforeAll(() => {
    env.sandbox.addPastOrders({ count: 3 });
    env.receiver.answerWith(({ body }) => (silent.has(body.data.referenceId) ? 500 : 204));
  });
  expectNoChangedEvents(env);

  it.concurrent.each(OPERATIONS)(
    'placeOrder without an answer, %s and then failed, sends nothing again, whether or not it is dispatched again',
    async (_, operate) => {
      const referenceId = env.reference();
      env.sandbox.addFault({ operation: 'place', referenceId, times: 'always', action: { type: 'hang' } });
      await env.buy({ 'demo-instant': 1 }, referenceId);
      const operator = operatorOf(env, referenceId);
      await waitUntil('the placement is on its way', () => env.sandbox.placeRequestsOf(referenceId) === 1);

      // Only a failed attempt is dispatched again; before that, all of these change nothing.
      const operating = operate(operator, 'placeOrder');
      await operator.fail('placeOrder', { final: false });
      await operating;

      await operator.held('PLACEMENT_UNKNOWN');
      expect(await env.audit(referenceId)).toMatchObject({ orderCount: 0, requests: 1 });
      await operator.resolve('abandon');
      expect(await operator.result()).toMatchObject({ outcome: 'ABANDONED' });
      expect(await env.audit(referenceId)).toMatchObject({ orderCount: 0, requests: 1 });
    },
  );

  it.concurrent.each(OPERATIONS)('awaitOrderChange, %s, goes on polling and delivers once', async (_, operate) => {
    const referenceId = await env.buy({ 'demo-never': 2 });
    const operator = operatorOf(env, referenceId);
    await operator.pending('awaitOrderChange', 2);

    await operate(operator, 'awaitOrderChange');

    const [order] = await env.sandbox.ordersOf(referenceId);
    await env.sandbox.changeOrder(order!.id, { status: 'COMPLETED' });
    expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED' });
    await expectDeliveredOnce(env, referenceId, 2);
    expect(await operator.brokenTasks()).toEqual([]);
  });

  it.concurrent(
    'one that stays paused, which nothing else ends, is listed by the query that the docs name',
    async () => {
      const referenceId = await env.buy({ 'demo-never': 2 });
      const operator = operatorOf(env, referenceId);
      await operator.pending('awaitOrderChange', 2);
      await operator.pause('awaitOrderChange');
      await env.untilListed(`TemporalPauseInfo IS NOT NULL AND ReferenceId = '${referenceId}'`, 1);
      await operator.terminate();
    },
  );

  it.concurrent.each(OPERATIONS)(
    'deliverSale to a checkout that answers 500, %s, delivers the same event once the checkout takes it',
    async (_, operate) => {
      const referenceId = env.reference();
      silent.add(referenceId);
      await env.buy({ 'demo-instant': 2 }, referenceId);
      const operator = operatorOf(env, referenceId);
      await operator.pending('deliverSale', 2);

      await operate(operator, 'deliverSale');
      silent.delete(referenceId);

      expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED' });
      const { issued, received } = await env.audit(referenceId);
      expect(received).toEqual(issued);
      const ids = env.receiver.attemptsOf(referenceId).map(({ id }) => id);
      expect(new Set(ids).size).toBe(1);
    },
  );
});
