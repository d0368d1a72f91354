import { randomUUID } from 'node:crypto';
import { historyOf } from '../../support/history';
import { type Operator, operatorOf } from '../../support/operator';
import { startReadyWorker, workerEnvOf } from '../../support/processes';
import { TEST_FINGERPRINT_SECRET } from '../../support/settings';
import { startTestEnvironment, type TestEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';
import { changedEvents } from '../../support/audit';

const NEWER = 'a-newer-secret-that-is-none-a-newer-secret';
const ROTATED = [NEWER, TEST_FINGERPRINT_SECRET];
const AT_ONCE = { firstPollMs: 0, partnerTimeoutMs: 5_000, deliveryTimeoutMs: 5_000 };

/**
 * The checkout has received the event, but Temporal does not know: the result of a local activity is recorded only with
 * its workflow task. The next delivery must use the same key ids, even after the secret of the ids was rotated.
 */
describe('keys of a local delivery that Temporal has not recorded', () => {
  /** A purchase during its local delivery: the checkout receives the first attempt and does not respond to it. */
  async function inDelivery(env: TestEnvironment) {
    env.receiver.respondWith(() => (env.receiver.attempts.length === 1 ? 'take-and-hang' : 204));
    const referenceId = await env.buy({ 'demo-instant': 2 });
    await waitUntil('the checkout has it', () => env.receiver.attempts.length > 0);
    return { referenceId, operator: operatorOf(env, referenceId) };
  }

  /** The keys arrived more than once, each under one id only. */
  async function expectSameKeys(env: TestEnvironment, referenceId: string, types = ['purchase.delivered']) {
    await waitUntil('they came again', () => env.receiver.attemptsOf(referenceId).length > 1);
    expect(env.eventTypes(referenceId)).toEqual(types);
    expect(changedEvents(env.receiver)).toEqual([]);
    const keyIds = env.receiver
      .attemptsOf(referenceId)
      .map(({ body }) => body.data.lines!.flatMap(({ keys }) => keys!.map(({ id }) => id)));
    for (const again of keyIds) expect(again).toEqual(keyIds[0]);
    const { issued, received } = await env.audit(referenceId);
    expect(received).toEqual(issued);
  }

  it.concurrent.each([
    ['after a SIGKILL', false],
    ['after a SIGKILL and an ordinary poll, if the partner is away when the workflow task is repeated', true],
  ])('are delivered again under the same ids by the next worker, %s', async (_, isAway) => {
    const env = await startTestEnvironment({ worker: false, settings: { ...AT_ONCE, pollIntervalMs: 1_000 } });
    const victim = await startReadyWorker({ env: workerEnvOf(env) });
    const { referenceId, operator } = await inDelivery(env);
    victim.signal('SIGKILL');
    if (isAway) env.sandbox.addFault({ operation: 'keys', times: 1, action: { type: 'answer', status: 503 } });
    await startReadyWorker({ env: workerEnvOf(env, { FINGERPRINT_SECRET: ROTATED.join(' ') }) });

    expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED' });
    if (isAway) expect((await historyOf(env, referenceId)).activities).toContain('pollUntilEnded');
    await expectSameKeys(env, referenceId);
  });

  it.concurrent('are named in a notice if the order is refunded before the next worker can read it', async () => {
    const settings = { ...AT_ONCE, pollIntervalMs: 1_000 };
    const env = await startTestEnvironment({ worker: false, settings });
    const victim = await startReadyWorker({ env: workerEnvOf(env) });
    env.receiver.respondWith(({ body: { type } }) => (type === 'purchase.delivered' ? 'take-and-hang' : 204));
    const referenceId = await env.buy({ 'demo-never': 2 });
    const operator = operatorOf(env, referenceId);
    await operator.pending('pollUntilEnded', 1);
    const { id: orderId } = await env.orderOf(referenceId);
    await env.sandbox.changeOrder(orderId, { status: 'COMPLETED', keys: [[randomUUID(), randomUUID()]] });
    await waitUntil('the checkout has it', () => env.receiver.attempts.length > 0);
    victim.signal('SIGKILL');
    env.sandbox.addFault({ operation: 'keys', times: 1, action: { type: 'answer', status: 503 } });
    await env.sandbox.changeOrder(orderId, { status: 'REFUNDED' });
    await startReadyWorker({ env: workerEnvOf(env) });

    expect(await operator.result()).toMatchObject({ outcome: 'REFUNDED' });
    const notice = env.receiver.eventsOf(referenceId).find(({ data }) => data.kind === 'DELIVERED_KEYS_GONE');
    expect(notice?.data.details).toMatchObject({ count: 2 });
  });

  const LATE = ['purchase.delivered', 'purchase.late_delivery'];

  it.concurrent.each<[string, string[], (env: TestEnvironment, operator: Operator, id: string) => Promise<unknown>]>([
    [
      'by redeliver, if the purchase was terminated',
      LATE,
      async (env, operator, referenceId) => {
        await operator.terminate();
        await env.starter.redeliver(referenceId);
      },
    ],
    [
      'by the reconciliation, if the purchase was terminated',
      LATE,
      async (env, operator, referenceId) => {
        await operator.terminate();
        await env.untilListed(`ReferenceId = '${referenceId}' AND ExecutionStatus = 'Terminated'`, 1);
        expect(await env.reconcile()).toMatchObject({ details: [{ kind: 'LOST', done: 'repaired' }] });
      },
    ],
    [
      'from the run that a reset makes',
      ['purchase.delivered'],
      async (_env, operator) => {
        await operator.reset((await operator.points())[0]!);
        expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED' });
      },
    ],
  ])('are delivered again under the same ids %s', async (_, types, deliverAgain) => {
    let secrets = [TEST_FINGERPRINT_SECRET];
    const fingerprintSecrets = () => secrets;
    const env = await startTestEnvironment({ settings: AT_ONCE, ownNamespace: true, fingerprintSecrets });
    const { referenceId, operator } = await inDelivery(env);
    secrets = ROTATED;
    await deliverAgain(env, operator, referenceId);

    await expectSameKeys(env, referenceId, types);
  });
});
