import { historyOf } from '../../support/history';
import { operatorOf } from '../../support/operator';
import { startReadyWorker, workerEnvOf } from '../../support/processes';
import { TEST_FINGERPRINT_SECRET } from '../../support/settings';
import { startTestEnvironment, type TestEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';
import { changedEvents } from '../../support/audit';

jest.setTimeout(120_000);

const NEWER = 'a-newer-secret-that-is-none-a-newer-secret';
const ROTATED = [NEWER, TEST_FINGERPRINT_SECRET];
const AT_ONCE = { firstPollMs: 0, partnerTimeoutMs: 5_000, deliveryTimeoutMs: 5_000 };

/**
 * The checkout has received the event, and Temporal does not know: the result of a local activity is on record only with its workflow
 * task. Whoever delivers the sale now must give each key the id that it had. The secret of the ids is rotated meanwhile, too.
 */
describe('keys that a local delivery has delivered without a trace', () => {
  /** A purchase in the middle of its local delivery: the checkout takes the first attempt and does not answer it. */
  async function inDelivery(env: TestEnvironment, start: () => Promise<unknown> = async () => undefined) {
    env.receiver.answerWith(() => (env.receiver.attempts.length === 1 ? 'take-and-hang' : 204));
    const referenceId = await env.buy({ 'demo-instant': 2 });
    await start();
    await waitUntil('the checkout has it', () => env.receiver.attempts.length > 0);
    return { referenceId, operator: operatorOf(env, referenceId) };
  }

  /** The keys came more than once, and each under one id. */
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

  it.concurrent('come again from the next worker, after a SIGKILL', async () => {
    const env = await startTestEnvironment({ worker: false, settings: AT_ONCE });
    const victim = await startReadyWorker({ env: workerEnvOf(env) });
    const { referenceId, operator } = await inDelivery(env);
    victim.signal('SIGKILL');
    await startReadyWorker({ env: workerEnvOf(env, { FINGERPRINT_SECRET: ROTATED.join(' ') }) });

    expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED' });
    await expectSameKeys(env, referenceId);
  });

  it.concurrent(
    'come again after an ordinary poll, if the partner is away when the workflow task is repeated',
    async () => {
      const env = await startTestEnvironment({ worker: false, settings: { ...AT_ONCE, pollIntervalMs: 1_000 } });
      const victim = await startReadyWorker({ env: workerEnvOf(env) });
      const { referenceId, operator } = await inDelivery(env);
      victim.signal('SIGKILL');
      env.sandbox.addFault({ operation: 'keys', times: 1, action: { type: 'answer', status: 503 } });
      await startReadyWorker({ env: workerEnvOf(env, { FINGERPRINT_SECRET: ROTATED.join(' ') }) });

      expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED' });
      expect((await historyOf(env, referenceId)).activities).toContain('awaitOrderChange');
      await expectSameKeys(env, referenceId);
    },
  );

  it.concurrent.each([
    ['by redeliver', (env: TestEnvironment, referenceId: string) => env.starter.redeliver(referenceId)],
    [
      'by the reconciliation',
      async (env: TestEnvironment, referenceId: string) => {
        await env.untilListed(`ReferenceId = '${referenceId}' AND ExecutionStatus = 'Terminated'`, 1);
        expect(await env.reconcile()).toMatchObject({ details: [{ kind: 'LOST', done: 'repaired' }] });
      },
    ],
  ])('come again %s, if the purchase was terminated', async (_, deliver) => {
    let secrets = [TEST_FINGERPRINT_SECRET];
    const env = await startTestEnvironment({
      settings: AT_ONCE,
      ownNamespace: true,
      fingerprintSecrets: () => secrets,
    });
    const { referenceId, operator } = await inDelivery(env);
    await operator.terminate();
    secrets = ROTATED;

    await deliver(env, referenceId);
    await expectSameKeys(env, referenceId, ['purchase.delivered', 'purchase.late_delivery']);
  });

  it.concurrent('come again from the run that a reset makes', async () => {
    let secrets = [TEST_FINGERPRINT_SECRET];
    const env = await startTestEnvironment({ settings: AT_ONCE, fingerprintSecrets: () => secrets });
    const { referenceId, operator } = await inDelivery(env);
    secrets = ROTATED;
    await operator.reset((await operator.points())[0]!);

    expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED' });
    await expectSameKeys(env, referenceId);
  });
});
