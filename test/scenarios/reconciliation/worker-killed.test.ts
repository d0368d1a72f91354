import { readdirSync } from 'node:fs';
import { temporaryFolder } from '../../support/clean-up';
import { startReadyWorker, workerEnvOf } from '../../support/processes';
import { expectAllKeys } from '../../support/purchase-checks';
import type { Attempt } from '../../support/receiver';
import { HOUR } from '../../support/settings';
import { startReconciliationEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';

it('killing a worker while it reads and another while it delivers leaves nothing undelivered and delivers nothing twice', async () => {
  const env = await startReconciliationEnvironment({ worker: false });
  const reports = temporaryFolder();
  const start = (more = {}) => startReadyWorker({ env: workerEnvOf(env, { REPORT_DIR: reports, ...more }) });
  let worker = await start();
  env.sandbox.addPastOrders({ count: 2_000, endsBeforeMs: 80 * HOUR });
  const { referenceId: terminated } = await env.opened({ 'demo-never': 2 });
  await env.handleOf(terminated).terminate();
  await worker.end('SIGTERM');
  worker = await start({ PURCHASE_DEADLINE: '1s' });
  const { referenceId: overdue } = await env.bought({ 'demo-never': 2 });
  for (const referenceId of [overdue, terminated]) await env.changeOrder(referenceId, { status: 'COMPLETED' });
  // The clock does not skip, so both orders must first outlive the confirmation window.
  const found = async () => (await env.reconcile({ dryRun: true })).details.length;
  await waitUntil('both are found', async () => (await found()) === 2);

  const hanging = env.sandbox.addFault({ operation: 'orders', times: 'always', action: { type: 'hang' } });
  env.receiver.respondWith(({ body }) => (body.type === 'purchase.late_delivery' ? 'take-and-hang' : 204));
  const running = env.reconcile();
  await waitUntil('it reads the history', () => hanging.hits > 0);
  await worker.end('SIGKILL');
  env.sandbox.clearFaults();
  worker = await start();
  const isLate = ({ body }: Attempt) => body.type === 'purchase.late_delivery';
  await waitUntil('a late delivery is tried', () => env.receiver.attempts.some(isLate));
  await worker.end('SIGKILL');
  env.receiver.respondWith(() => 204);
  worker = await start();

  expect(await running).toMatchObject({ findings: { LATE: 1, LOST: 1 } });
  await env.untilListed("WorkflowType = 'deliverWorkflow' AND ExecutionStatus = 'Completed'", 2);
  for (const referenceId of [overdue, terminated]) await expectAllKeys(env, referenceId, 2);
  expect(env.sandbox.requests().place).toBe(2);
  expect(readdirSync(reports).filter((name) => name.endsWith('.part'))).toEqual([]);
  expect((await env.reconcile()).findings).toEqual({});
  await worker.end('SIGTERM');
});
