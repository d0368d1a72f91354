import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { purchaseWorkflowId } from '../../../src/contracts/names';
import { until } from '../placement/play';
import { startWorkerProcess } from '../../support/processes';
import { HOUR, startStage } from './stage';

const ADDRESS = process.env.TEST_TEMPORAL_ADDRESS ?? '';

it('a worker that is killed while it reads, and another while it delivers, leave nothing undelivered and deliver nothing twice', async () => {
  const stage = await startStage({ worker: false });
  const reports = mkdtempSync(join(tmpdir(), 'reports-'));
  const start = () => startWorkerProcess(stage, ADDRESS, { TEMPORAL_NAMESPACE: stage.namespace, REPORT_DIR: reports });
  let worker = await start();
  stage.sandbox.addPastOrders({ count: 2_000, endsBeforeMs: 80 * HOUR });
  const [overdue, terminated] = [await stage.buy({ 'demo-never': 2 }), await stage.buy({ 'demo-never': 2 })];
  await until(async () => (await stage.starter.status(terminated)).orderId !== undefined);
  await stage.client.workflow.getHandle(purchaseWorkflowId(terminated)).terminate();
  expect((await stage.starter.result(overdue)).outcome).toBe('OVERDUE');
  for (const referenceId of [overdue, terminated]) {
    const [order] = await stage.sandbox.ordersOf(referenceId);
    await stage.sandbox.changeOrder(order!.id, { status: 'COMPLETED' });
  }
  // The worker's clock is right, so both have to settle first.
  await until(async () => (await stage.reconcile({ dryRun: true })).details.length === 2);

  const hanging = stage.sandbox.addFault({ operation: 'orders', times: 'always', action: { type: 'hang' } });
  stage.receiver.answerWith(({ body }) => (body.type === 'purchase.late_delivery' ? 'take-and-hang' : 204));
  const running = stage.reconcile();
  await until(() => hanging.hits > 0);
  await worker.end('SIGKILL');
  stage.sandbox.clearFaults();
  worker = await start();
  await stage.receiver.waitFor(({ attempts }) => attempts.some(({ body }) => body.type === 'purchase.late_delivery'));
  await worker.end('SIGKILL');
  stage.receiver.answerWith(() => 204);
  worker = await start();

  expect(await running).toMatchObject({ findings: { LATE: 1, LOST: 1 } });
  await stage.untilListed("WorkflowType = 'deliverWorkflow' AND ExecutionStatus = 'Completed'", 2);
  for (const referenceId of [overdue, terminated]) {
    const { issued, received } = await stage.keys(referenceId);
    expect(received).toEqual(issued);
    expect(received).toHaveLength(2);
  }
  expect(stage.receiver.contradictions).toEqual([]);
  expect(stage.sandbox.requests().place).toBe(2);
  expect(readdirSync(reports).filter((name) => name.endsWith('.part'))).toEqual([]);
  expect(await stage.reconcile()).toMatchObject({ findings: {}, mended: 0 });
  await worker.end('SIGTERM');
  await stage.close();
}, 180_000);
