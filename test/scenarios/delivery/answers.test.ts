import { operatorOf } from '../../support/operator';
import { expectAllKeys } from '../../support/purchase-checks';
import type { Answer } from '../../support/receiver';
import { sharedEnvironment } from '../../support/test-environment';

describe('one event, whatever the checkout answers', () => {
  const env = sharedEnvironment();
  const scripts = new Map<string, Answer[]>();

  beforeAll(() => {
    env.receiver.answerWith(({ body }) => scripts.get(body.data.referenceId ?? '')?.shift() ?? 204);
  });

  it.concurrent.each<[string, Answer[]]>([
    ['takes the event and resets the connection, then takes it and never answers', ['take-and-reset', 'take-and-hang']],
    ['answers 500', [500, 500]],
    ['answers 400, 401, 404 and 409, which might be a fault of the checkout as well', [400, 401, 404, 409]],
    ['answers nothing in time, and then resets the connection', ['hang', 'reset']],
    ['answers 429 with garbage for a pace', [{ status: 429, headers: { 'retry-after': 'soon' } }]],
  ])('a checkout that %s gets it again under the same id, and has it once', async (_, answers) => {
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

  it.concurrent('410 holds the event, and a person who says deliver sends that event again, under its id', async () => {
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
  });
});
