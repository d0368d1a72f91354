import { expectNoChangedEvents } from '../../support/checks';
import { operatorOf } from '../../support/operator';
import type { Answer } from '../../support/receiver';
import { sharedEnvironment } from '../../support/test-environment';

describe('one event, whatever the checkout answers', () => {
  const env = sharedEnvironment();
  const scripts = new Map<string, Answer[]>();

  beforeAll(() => {
    env.receiver.answerWith(({ body }) => scripts.get(body.data.referenceId)?.shift() ?? 204);
  });
  expectNoChangedEvents(env);

  const attemptsFor = (referenceId: string) => env.receiver.attemptsOf(referenceId);

  async function answered(...answers: Answer[]) {
    const referenceId = env.reference();
    scripts.set(referenceId, answers);
    const result = await env.bought({ 'demo-instant': 2 }, referenceId);
    return { referenceId, result, attempts: attemptsFor(referenceId) };
  }

  it.concurrent.each<[string, Answer[]]>([
    ['takes the event and resets the connection', ['take-and-reset']],
    ['takes the event and never answers', ['take-and-hang']],
    ['does both', ['take-and-reset', 'take-and-hang']],
  ])('a checkout that %s gets it again under the same id, so that it can tell', async (_, answers) => {
    const { referenceId, result, attempts } = await answered(...answers);

    expect(result.outcome).toBe('DELIVERED');
    expect(attempts).toHaveLength(answers.length + 1);
    expect(new Set(attempts.map(({ id }) => id)).size).toBe(1);
    const { issued, received } = await env.audit(referenceId);
    expect(received).toEqual(issued);
  });

  it.concurrent.each<[string, Answer[]]>([
    ['500', [500, 500]],
    ['400, 401, 404 and 409, which might be a fault of the checkout as well', [400, 401, 404, 409]],
    ['nothing in time', ['hang']],
    ['a reset', ['reset']],
    ['429 with garbage for a pace', [{ status: 429, headers: { 'retry-after': 'soon' } }]],
  ])('a checkout that answers %s has not got it: it is tried again, and delivered once', async (_, answers) => {
    const failures = answers.length;
    const { referenceId, result, attempts } = await answered(...answers);

    expect(result.outcome).toBe('DELIVERED');
    expect(attempts).toHaveLength(failures + 1);
    expect(env.eventTypes(referenceId)).toEqual(['purchase.delivered']);
  });

  it.concurrent('410 holds the event, and a person who says deliver sends that event again, under its id', async () => {
    const referenceId = env.reference();
    scripts.set(referenceId, [410]);
    await env.buy({ 'demo-instant': 2 }, referenceId);
    const operator = operatorOf(env, referenceId);
    await operator.held('DELIVERY_REFUSED');
    const tries = () => attemptsFor(referenceId).filter(({ body }) => body.type === 'purchase.delivered');
    expect(tries()).toHaveLength(1);

    await operator.resolve('deliver');

    expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED' });
    expect(tries()).toHaveLength(2);
    expect(new Set(tries().map(({ id }) => id)).size).toBe(1);
  });
});
