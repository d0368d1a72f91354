import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { purchaseWorkflowId } from '../../../src/contracts/names';
import { until } from '../placement/play';
import { startWorkerProcess } from '../../support/processes';
import { HOUR, startReconciliationEnvironment } from './environment';

const ADDRESS = process.env.TEST_TEMPORAL_ADDRESS ?? '';

it('a worker killed while it reads, and another killed while it delivers, leave nothing undelivered and deliver nothing twice', async () => {
  const env = await startReconciliationEnvironment({ worker: false });
  const reports = mkdtempSync(join(tmpdir(), 'reports-'));
  const start = () => startWorkerProcess(env, ADDRESS, { TEMPORAL_NAMESPACE: env.namespace, REPORT_DIR: reports });
  let worker = await start();
  env.sandbox.addPastOrders({ count: 2_000, endsBeforeMs: 80 * HOUR });
  const [overdue, terminated] = [await env.buy({ 'demo-never': 2 }), await env.buy({ 'demo-never': 2 })];
  await until(async () => (await env.starter.status(terminated)).orderId !== undefined);
  await env.client.workflow.getHandle(purchaseWorkflowId(terminated)).terminate();
  expect((await env.starter.result(overdue)).outcome).toBe('OVERDUE');
  for (const referenceId of [overdue, terminated]) {
    const [order] = await env.sandbox.ordersOf(referenceId);
    await env.sandbox.changeOrder(order!.id, { status: 'COMPLETED' });
  }
  // The worker's clock is right, so both have to settle first.
  await until(async () => (await env.reconcile({ dryRun: true })).details.length === 2);

  const hanging = env.sandbox.addFault({ operation: 'orders', times: 'always', action: { type: 'hang' } });
  env.receiver.answerWith(({ body }) => (body.type === 'purchase.late_delivery' ? 'take-and-hang' : 204));
  const running = env.reconcile();
  await until(() => hanging.hits > 0);
  await worker.end('SIGKILL');
  env.sandbox.clearFaults();
  worker = await start();
  await env.receiver.waitFor(({ attempts }) => attempts.some(({ body }) => body.type === 'purchase.late_delivery'));
  await worker.end('SIGKILL');
  env.receiver.answerWith(() => 204);
  worker = await start();

  expect(await running).toMatchObject({ findings: { LATE: 1, LOST: 1 } });
  await env.untilListed("WorkflowType = 'deliverWorkflow' AND ExecutionStatus = 'Completed'", 2);
  for (const referenceId of [overdue, terminated]) {
    const { issued, received } = await env.keys(referenceId);
    expect(received).toEqual(issued);
    expect(received).toHaveLength(2);
  }
  expect(env.receiver.contradictions).toEqual([]);
  expect(env.sandbox.requests().place).toBe(2);
  expect(readdirSync(reports).filter((name) => name.endsWith('.part'))).toEqual([]);
  expect(await env.reconcile()).toMatchObject({ findings: {}, mended: 0 });
  await worker.end('SIGTERM');
  await env.close();
}, 180_000);
