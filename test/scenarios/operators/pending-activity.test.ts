import { type Operator, operatorOf } from '../../support/operator';
import { expectDeliveredOnce } from '../../support/purchase-checks';
import { sharedEnvironment } from '../../support/test-environment';

/** What the UI and the CLI offer for a running activity. The activity goes on after each of them. */
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
    'paused, reset while paused, and unpaused',
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
  const env = sharedEnvironment({ pastOrders: 3 });

  it.concurrent.each(OPERATIONS)(
    'placeOrder that is %s and then fails does not send the order again',
    async (_, operate) => {
      const referenceId = await env.buyFacing({ operation: 'place', times: 'always', action: { type: 'hang' } });
      const operator = operatorOf(env, referenceId);
      await env.untilSent(referenceId);

      // The server starts another attempt only after a failed one, so none of these has an effect before that.
      const operating = operate(operator, 'placeOrder');
      await operator.fail('placeOrder', { final: false });
      await operating;

      await operator.held('PLACEMENT_UNKNOWN');
      await operator.resolve('abandon');
      expect(await operator.result()).toMatchObject({ outcome: 'ABANDONED' });
      expect(await env.audit(referenceId)).toMatchObject({ orderCount: 0, requests: 1 });
    },
  );

  it.concurrent('an activity that stays paused is found by the query in the docs', async () => {
    const referenceId = await env.buy({ 'demo-never': 2 });
    const operator = operatorOf(env, referenceId);
    await operator.pending('pollUntilEnded', 2);
    await operator.pause('pollUntilEnded');
    await env.untilListed(`TemporalPauseInfo IS NOT NULL AND ReferenceId = '${referenceId}'`, 1);
    await operator.terminate();
  });

  it.concurrent(
    'a delivery whose attempts are reset counts as sent: if its order is refunded, a notice names the keys',
    async () => {
      const referenceId = env.reference();
      env.receiver.responseTo(referenceId, 500);
      await env.buy({ 'demo-instant': 2 }, referenceId);
      const operator = operatorOf(env, referenceId);
      await operator.pending('deliverSale', 2);
      // The attempt that sees the change ends the activity, so none may run between the change and the reset.
      await operator.pause('deliverSale');
      await operator.pausedBetweenAttempts('deliverSale');
      await env.changeOrder(referenceId, { status: 'REFUNDED' });
      await operator.resetActivity('deliverSale', { keepPaused: true });
      await operator.unpause('deliverSale');
      env.receiver.take(referenceId);

      expect(await operator.result()).toMatchObject({ outcome: 'REFUNDED' });
      const notices = env.receiver.eventsOf(referenceId).filter(({ type }) => type === 'purchase.attention');
      expect(notices.map(({ data }) => data)).toMatchObject([{ kind: 'DELIVERED_KEYS_GONE', details: { count: 2 } }]);
    },
  );

  const GOES_ON = OPERATIONS.flatMap(([name, operate]) => [
    { activity: 'pollUntilEnded', product: 'demo-never', name, operate },
    { activity: 'deliverSale', product: 'demo-instant', name, operate },
  ]);
  it.concurrent.each(GOES_ON)(
    '$activity that is $name continues and delivers once',
    async ({ activity, product, operate }) => {
      const referenceId = env.reference();
      env.receiver.responseTo(referenceId, 500);
      await env.buy({ [product]: 2 }, referenceId);
      const operator = operatorOf(env, referenceId);
      await operator.pending(activity, 2);

      await operate(operator, activity);

      env.receiver.take(referenceId);
      await env.changeOrder(referenceId, { status: 'COMPLETED' });
      await expectDeliveredOnce(env, referenceId, 2);
      expect(new Set(env.receiver.attemptsOf(referenceId).map(({ id }) => id)).size).toBe(1);
    },
  );
});
