import { operatorOf } from '../../support/operator';
import { expectDeliveredOnce } from '../../support/purchase-checks';
import { TEST_FINGERPRINT_SECRET } from '../../support/settings';
import { sharedEnvironment } from '../../support/test-environment';

const NEWER = 'a-newer-secret-that-is-none-a-newer-secret';

describe('a fingerprint secret that is rotated between the poll and the delivery', () => {
  const env = sharedEnvironment({ fingerprintSecrets: () => secrets });
  let secrets: string[];

  beforeEach(() => {
    secrets = [TEST_FINGERPRINT_SECRET];
  });

  async function seenAndNotDelivered() {
    const referenceId = env.reference();
    env.receiver.responseTo(referenceId, 503);
    await env.buy({ 'demo-instant': 2 }, referenceId);
    const operator = operatorOf(env, referenceId);
    await operator.pending('deliverSale', 2);
    const [attempt] = env.receiver.attemptsOf(referenceId);
    return { referenceId, operator, id: attempt!.id };
  }

  async function deliveredAs(id: string, referenceId: string) {
    await expectDeliveredOnce(env, referenceId, 2);
    const ids = env.receiver.attemptsOf(referenceId).map((one) => one.id);
    expect(new Set(ids)).toEqual(new Set([id]));
  }

  it('waits when the older secret is missing: the event is not lost, and the keys are not reported as gone', async () => {
    const { referenceId, operator, id } = await seenAndNotDelivered();

    secrets = [NEWER];
    env.receiver.take(referenceId);
    await operator.pending('deliverSale', 3);
    const waiting = await operator.failing('deliverSale', 'add the older secret again');
    expect(waiting.attempt).toBeGreaterThan(2);
    expect(env.eventTypes(referenceId)).toEqual([]);

    secrets = [NEWER, TEST_FINGERPRINT_SECRET];
    await deliveredAs(id, referenceId);
  });

  it('keeps the ids of sent keys: a reset after the rotation sends no second event for the same keys', async () => {
    const { referenceId, operator, id } = await seenAndNotDelivered();
    env.receiver.take(referenceId);
    await operator.result();
    const [first] = await operator.points();

    secrets = [NEWER, TEST_FINGERPRINT_SECRET];
    await operator.reset(first!);

    await deliveredAs(id, referenceId);
  });

  it('keeps the ids of sent keys: a second start after the rotation sends no second event for the same keys', async () => {
    const { referenceId, id } = await seenAndNotDelivered();
    secrets = [NEWER, TEST_FINGERPRINT_SECRET];
    const args = [{ referenceId, items: [{ productId: 'demo-instant', quantity: 2 }] }];
    await env.startRaw(referenceId, { args, workflowIdConflictPolicy: 'TERMINATE_EXISTING' });
    env.receiver.take(referenceId);

    await deliveredAs(id, referenceId);
  });

  it('keeps the ids of sent keys: an order that grows after the rotation delivers only its new keys', async () => {
    const referenceId = await env.buy({ 'demo-never': 2 });
    await env.changeOrder(referenceId, { status: 'PARTIAL_COMPLETED', keys: [['A']] });
    await env.starter.result(referenceId);

    secrets = [NEWER, TEST_FINGERPRINT_SECRET];
    await env.changeOrder(referenceId, { status: 'COMPLETED', keys: [['B', 'A']] });
    await env.starter.redeliver(referenceId);

    expect((await env.audit(referenceId)).received).toEqual(['A', 'B']);
    expect(env.eventTypes(referenceId)).toEqual(['purchase.partially_delivered', 'purchase.late_delivery']);
  });
});
