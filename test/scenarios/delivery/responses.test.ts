import { operatorOf } from '../../support/operator';
import { expectAllKeys } from '../../support/purchase-checks';
import type { Answer } from '../../support/receiver';
import { sharedEnvironment } from '../../support/test-environment';

describe("one event and the checkout's responses", () => {
  const env = sharedEnvironment();
  const scripts = new Map<string, Answer[]>();

  beforeAll(() => {
    env.receiver.respondWith(({ body }) => scripts.get(body.data.referenceId ?? '')?.shift() ?? 204);
  });

  it.concurrent.each<[string, Answer[]]>([
    [
      'accepts the event and resets the connection, then accepts it and never responds',
      ['take-and-reset', 'take-and-hang'],
    ],
    ['returns 500', [500, 500]],
    ['returns 400, 401, 404 and 409, which may be a mistake in the checkout', [400, 401, 404, 409]],
    ['responds too late, then resets the connection', ['hang', 'reset']],
    ['returns 429 with an invalid Retry-After', [{ status: 429, headers: { 'retry-after': 'soon' } }]],
  ])('a checkout that %s gets the event again under the same id and processes it only once', async (_, answers) => {
    const failures = answers.length;
    const referenceId = env.reference();
    scripts.set(referenceId, answers);
    expect(await env.bought({ 'demo-instant': 2 }, referenceId)).toMatchObject({ outcome: 'DELIVERED' });

    const attempts = env.receiver.attemptsOf(referenceId);
    expect(attempts).toHaveLength(failures + 1);
    expect(new Set(attempts.map(({ id }) => id)).size).toBe(1);
    expect(env.eventTypes(referenceId)).toEqual(['purchase.delivered']);
    await expectAllKeys(env, referenceId, 2);
  });

  it.concurrent(
    'holds an event for which the checkout returns 410, and sends it again under the same id when an operator decides to deliver',
    async () => {
      const referenceId = env.reference();
      scripts.set(referenceId, [410]);
      await env.buy({ 'demo-instant': 2 }, referenceId);
      const operator = operatorOf(env, referenceId);
      await operator.held('DELIVERY_REFUSED');
      const tries = () => env.receiver.attemptsOf(referenceId).filter(({ body }) => body.type === 'purchase.delivered');
      expect(tries()).toHaveLength(1);

      await operator.resolve('deliver');

      expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED' });
      expect(tries()).toHaveLength(2);
      expect(new Set(tries().map(({ id }) => id)).size).toBe(1);
    },
  );
});
