import { startReadyWorker, workerEnvOf } from '../../support/processes';
import { startRefusingProxy } from '../../support/refusing-proxy';
import { startTestEnvironment } from '../../support/test-environment';
import { freePort } from '../../support/free-port';

const UNAUTHENTICATED = 16;
const CAUSE = 'the server refuses the API key (unauthenticated)';

it('a worker whose API key expires reports it at /readyz at once, and exits with 78 and the cause when the SDK gives up', async () => {
  const env = await startTestEnvironment({ worker: false });
  const proxy = await startRefusingProxy(env.address);
  const plain = { TEMPORAL_TLS: 'false', ALLOW_PLAINTEXT: 'true' };
  const connection = { TEMPORAL_ADDRESS: proxy.address, TEMPORAL_API_KEY: 'an-old-key', ...plain };
  const health = { HEALTH_ADDRESS: `127.0.0.1:${await freePort()}` };
  const worker = await startReadyWorker({ env: workerEnvOf(env, { ...connection, ...health }) });
  await worker.untilHealth('/readyz', 200);

  proxy.refuse(UNAUTHENTICATED);
  expect(await worker.untilHealth('/readyz', 503)).toBe(CAUSE);
  const { code, stderr } = await worker.ended;
  expect({ code, stderr }).toEqual({ code: 78, stderr: expect.stringContaining(CAUSE) });
});
