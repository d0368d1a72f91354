import { historyOf } from '../../support/history';
import { operatorOf } from '../../support/operator';
import { startTestEnvironment } from '../../support/test-environment';

const LOCAL = ['local readSettings', 'placeOrder', 'local pollOrder', 'local deliverSale'];
const POLLED = ['local readSettings', 'placeOrder', 'pollUntilEnded', 'local deliverSale'];

describe('the history of a purchase', () => {
  it.concurrent.each([
    ['complete at once', { firstPollMs: 0 }, 'demo-instant', 20, LOCAL],
    ['complete at its first poll', { firstPollMs: 20, pollIntervalMs: 200 }, 'demo-instant', 22, LOCAL],
    ['waiting', { firstPollMs: 200, pollIntervalMs: 200 }, 'demo-seconds', 26, POLLED],
    [
      'waiting after an immediate poll',
      { firstPollMs: 0, pollIntervalMs: 200 },
      'demo-seconds',
      26,
      [...LOCAL.slice(0, 3), ...POLLED.slice(2)],
    ],
  ])('contains exactly the expected steps, each under its name (%s)', async (_, settings, product, most, steps) => {
    const env = await startTestEnvironment({ settings, sandbox: { agePerPollMs: 3_000 } });
    const { referenceId, outcome } = await env.bought({ [product]: 2 });

    expect(outcome).toBe('DELIVERED');
    const { length, activities } = await historyOf(env, referenceId);
    expect(activities).toEqual(steps);
    expect(length).toBeLessThanOrEqual(most);
    const reads = steps === LOCAL ? { keys: 2 } : {};
    expect(env.sandbox.requests()).toMatchObject({ place: 1, orders: 1, products: 0, unknown: 0, ...reads });
  });

  it.concurrent('shows an event without keys before it is sent, so that a run after a reset knows of it', async () => {
    const env = await startTestEnvironment();
    const { referenceId, outcome } = await env.bought({ 'demo-out-of-stock': 1 });

    expect(outcome).toBe('REJECTED');
    const { activities } = await historyOf(env, referenceId);
    expect(activities.filter((step) => step.endsWith('deliverSale'))).toEqual(['deliverSale']);
  });

  it.concurrent(
    'has no local poll after a reset, because the deliveries of earlier runs must be read first',
    async () => {
      // With a 10-minute interval, the test also shows that it does not wait for the poll that it left out.
      const settings = { firstPollMs: 0, pollIntervalMs: 600_000, deadlineMs: 1_200_000 };
      const env = await startTestEnvironment({ settings });
      const { referenceId } = await env.bought({ 'demo-instant': 1 });
      const operator = operatorOf(env, referenceId);
      await operator.reset((await operator.points()).at(-1)!);
      await operator.result();

      const { activities } = await historyOf(env, referenceId);
      expect(activities).toEqual([...LOCAL.slice(0, 3), 'pollUntilEnded', 'local deliverSale']);
      expect(env.eventTypes(referenceId)).toEqual(['purchase.delivered']);
    },
  );
});
