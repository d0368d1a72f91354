import { createStarter } from '../../../src/starter/index';
import { operatorOf } from '../../support/operator';
import { startReadyWorker, workerEnvOf } from '../../support/processes';
import { startTestEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';

it('a worker killed while it checks an order that an operator named leaves the hold open, and the command can be repeated', async () => {
  const env = await startTestEnvironment({
    worker: false,
    pastOrders: 3,
    settings: { replace: 'never', confirmWindowMs: 200 },
  });
  const worker = await startReadyWorker({ env: workerEnvOf(env, { PARTNER_TIMEOUT: '8s' }) });
  const referenceId = env.reference();
  env.sandbox.addFault({ operation: 'place', referenceId, action: { type: 'reset' } });
  await env.buy({ 'demo-instant': 1 }, referenceId);
  const operator = operatorOf(env, referenceId);
  const hold = await operator.held('PLACEMENT_UNKNOWN');
  const items = [{ id: 'demo-instant', quantity: 1 }];
  const { id: orderId } = await env.sandbox.placeManualOrder({ referenceId: `${referenceId}-right`, items });
  env.sandbox.addFault({ operation: 'keys', orderId, times: 'always', action: { type: 'hang' } });

  // The server notices the death after a while, and only then gives the update's task to the next worker.
  const patient = createStarter(env.client, { taskQueue: env.taskQueue, timeoutMs: 100_000 });
  const decide = () => patient.resolve(referenceId, { decision: 'order', orderId });
  const refused = expect(decide()).rejects.toThrow(`order ${orderId} could not be checked`);
  const isRead = () => env.sandbox.log().some(({ path }) => path.endsWith(`/orders/${orderId}/keys`));
  await waitUntil('the worker reads the order', isRead);
  await worker.end('SIGKILL');
  env.sandbox.clearFaults();
  await startReadyWorker({ env: workerEnvOf(env) });

  await refused;
  expect(await env.starter.status(referenceId)).toMatchObject({ state: 'HELD', hold: { id: hold.id } });
  await decide();
  expect(await env.starter.result(referenceId)).toMatchObject({ outcome: 'DELIVERED', orderId });
});
