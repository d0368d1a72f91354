import { freePort } from '../../support/dev-server';
import { startWorld, type World } from '../../support/world';
import { startWorkerProcess, workerEnvironment, type WorkerProcess } from './worker-process';

describe('a worker process at work', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ worker: false, sandbox: { perLookMs: 30_000 } });
  });
  afterAll(() => world.close());

  async function start(own: Record<string, string> = {}): Promise<WorkerProcess> {
    return startWorkerProcess(
      await workerEnvironment({
        TEMPORAL_ADDRESS: process.env.TEST_TEMPORAL_ADDRESS ?? '',
        TEMPORAL_TASK_QUEUE: world.taskQueue,
        PARTNER_BASE_URL: world.sandbox.url,
        DELIVERY_URL: world.receiver.url,
        ...own,
      }),
    );
  }

  it('counts placements and deliveries for Prometheus, beside what the SDK counts', async () => {
    const worker = await start();
    await worker.untilHealth('/readyz', 200);
    await world.bought({ 'demo-instant': 1 });

    const metrics = await worker.metrics();
    expect(metrics).toMatch(/^fulfilment_placements(_total)?\{[^}]*evidence="PLACED"[^}]*\} 1$/m);
    expect(metrics).toMatch(/^fulfilment_delivery_attempts(_total)?\{[^}]*result="received"[^}]*\} 1$/m);
    expect(metrics).toMatch(/^temporal_workflow_completed(_total)?\{/m);
    expect(metrics).not.toContain('sandbox-key');
    worker.child.kill('SIGINT');
    expect(await worker.ended).toMatchObject({ code: 0, signal: null });
  });

  it('lets a placement that is on its way come to its end when it is asked to stop: one request, its answer kept', async () => {
    const worker = await start({ PARTNER_TIMEOUT: '10s' });
    await worker.untilHealth('/readyz', 200);
    const referenceId = world.reference('slow');
    const fault = world.sandbox.addFault({ operation: 'place', referenceId, action: { type: 'delay', ms: 1_500 } });
    await world.buy({ 'demo-instant': 1 }, referenceId);
    while (fault.hits === 0) await soon();

    worker.child.kill('SIGTERM');
    const { code, signal, stdout } = await worker.ended;
    expect({ code, signal }).toEqual({ code: 0, signal: null });
    for (const line of stdout.trim().split('\n')) expect(() => JSON.parse(line) as unknown).not.toThrow();

    const next = await start();
    const result = await world.starter.result(referenceId);
    expect(result.outcome).toBe('DELIVERED');
    expect(world.sandbox.placeRequestsOf(referenceId)).toBe(1);
    // It was not settled by a search: the answer itself had reached the history.
    const { events } = await world.client.workflow.getHandle(`purchase-${referenceId}`).fetchHistory();
    const types = events?.map((event) => event.activityTaskScheduledEventAttributes?.activityType?.name);
    expect(types).not.toContain('findOrders');
    next.child.kill('SIGTERM');
    expect((await next.ended).code).toBe(0);
  });

  it('only warns when the partner can not be reached, and is ready all the same', async () => {
    const worker = await start({ PARTNER_BASE_URL: `http://127.0.0.1:${await freePort()}` });
    await worker.untilHealth('/readyz', 200);
    await worker.said("the partner can't be used: listOrders: no connection to the partner (ECONNREFUSED)");
    worker.child.kill('SIGTERM');
    expect((await worker.ended).code).toBe(0);
  });

  it('says which variable to change when the address of its health endpoint is taken', async () => {
    const port = new URL(world.sandbox.url).port;
    const worker = await start({ HEALTH_ADDRESS: `127.0.0.1:${port}` });
    const { code, stderr } = await worker.ended;
    expect(code).toBe(1);
    expect(stderr).toContain(`HEALTH_ADDRESS 127.0.0.1:${port} can't be used`);
  });
});

function soon(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 25));
}
