import { operatorOf } from '../../support/operator';
import { TEST_FINGERPRINT_SECRET } from '../../support/settings';
import { sharedEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';

const NEWER = 'a-newer-secret-that-is-none-a-newer-secret';

describe('the secret of the fingerprints is rotated between the poll and the delivery', () => {
  const env = sharedEnvironment({ fingerprintSecrets: () => secrets });
  let secrets: string[];
  const silent = new Set<string>();

  beforeAll(() => {
    env.receiver.answerWith(({ body }) => (silent.has(body.data.referenceId) ? 503 : 204));
  });
  beforeEach(() => {
    secrets = [TEST_FINGERPRINT_SECRET];
  });

  async function seenAndNotDelivered() {
    const referenceId = env.reference();
    silent.add(referenceId);
    await env.buy({ 'demo-instant': 2 }, referenceId);
    const operator = operatorOf(env, referenceId);
    await operator.pending('deliverSale', 2);
    const [attempt] = env.receiver.attemptsOf(referenceId);
    return { referenceId, operator, id: attempt!.id };
  }

  async function deliveredAs(id: string, referenceId: string) {
    expect(await operatorOf(env, referenceId).result()).toMatchObject({ outcome: 'DELIVERED' });
    const { issued, received } = await env.audit(referenceId);
    expect(received).toEqual(issued);
    const ids = env.receiver.attemptsOf(referenceId).map((one) => one.id);
    expect(new Set(ids)).toEqual(new Set([id]));
  }

  it('waits for the older secret when it is gone: the event is neither lost, nor held as if its keys were', async () => {
    const { referenceId, operator, id } = await seenAndNotDelivered();

    secrets = [NEWER];
    silent.delete(referenceId);
    await operator.pending('deliverSale', 3);
    const waiting = await operator.failing('deliverSale', 'put the older secret back');
    expect(waiting.attempt).toBeGreaterThan(2);
    expect(env.eventTypes(referenceId)).toEqual([]);

    secrets = [NEWER, TEST_FINGERPRINT_SECRET];
    await deliveredAs(id, referenceId);
  });

  it('keeps the names of what went out: a reset after the rotation makes no second event of the same keys', async () => {
    const { referenceId, operator, id } = await seenAndNotDelivered();
    silent.delete(referenceId);
    await operator.result();
    const [first] = await operator.points();

    secrets = [NEWER, TEST_FINGERPRINT_SECRET];
    await operator.reset(first!);

    await deliveredAs(id, referenceId);
  });

  it('keeps the names of what went out: a part that grows after the rotation brings only its new keys', async () => {
    const referenceId = await env.buy({ 'demo-never': 2 });
    const orderOf = async () => (await env.starter.status(referenceId)).orderId;
    const orderId = await waitUntil('the order is placed', orderOf);
    await env.sandbox.changeOrder(orderId, { status: 'PARTIAL_COMPLETED', keys: [['A']] });
    await env.starter.result(referenceId);

    secrets = [NEWER, TEST_FINGERPRINT_SECRET];
    await env.sandbox.changeOrder(orderId, { status: 'COMPLETED', keys: [['B', 'A']] });
    await env.starter.redeliver(referenceId);

    expect((await env.audit(referenceId)).received).toEqual(['A', 'B']);
    expect(env.eventTypes(referenceId)).toEqual(['purchase.partially_delivered', 'purchase.late_delivery']);
  });
});
