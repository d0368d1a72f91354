import { startWorkerProcess, workerEnvOf } from '../../support/processes';
import { operatorOf } from '../../support/operator';
import { sharedEnvironment } from '../../support/test-environment';

const KEYS = 1_000;

describe('an order of a thousand image keys of 36 kB', () => {
  const env = sharedEnvironment({
    worker: false,
    sandbox: { balance: 100_000_000 },
    settings: { partnerTimeoutMs: 15_000, deliveryTimeoutMs: 15_000 },
  });
  const startReady = async (maxBody?: string) => {
    const worker = await startWorkerProcess({ env: workerEnvOf(env, { PARTNER_MAX_BODY: maxBody }) });
    await worker.untilHealth('/readyz', 200);
    return worker;
  };

  it('is held when a worker may not read a response that large, and delivered with the setting that the hold names', async () => {
    const data = `data:image/png;base64,${'A'.repeat(36_000)}`;
    const keys = Array.from({ length: KEYS }, (_, at) => ({ type: 'image', value: `${data}${at}` }));
    const products = [{ id: 'demo-never', title: 'Card', quantity: KEYS, keys }];
    const action = { type: 'merge', data: { status: 'COMPLETED', products } } as const;
    env.sandbox.addFault({ operation: 'keys', when: 'after', times: 'always', action });
    const small = await startReady();
    const referenceId = await env.buy({ 'demo-never': KEYS });
    const operator = operatorOf(env, referenceId);
    expect(await operator.held('ORDER_TOO_LARGE')).toMatchObject({
      explanation: 'the order could not be read: the response is larger than PARTNER_MAX_BODY',
    });
    await small.end('SIGTERM');

    await startReady('64MiB');
    await operator.resolve('deliver');

    expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED', lines: [{ delivered: KEYS }] });
    const delivered = env.receiver.eventsOf(referenceId).find(({ type }) => type === 'purchase.delivered');
    const received = delivered?.data.lines
      ?.flatMap((line) => line.keys ?? [])
      .map(({ type, value }) => ({ type, value }));
    expect(received).toEqual(keys);
  });
});
