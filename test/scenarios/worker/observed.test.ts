import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Collector, startCollector } from '../../support/collector';
import { starterEnvOf, starterProcess, startReadyWorker, workerEnvOf } from '../../support/processes';
import { sharedEnvironment } from '../../support/test-environment';

const TRACE_ID = /^[0-9a-f]{32}$/;

describe('a purchase in logs and traces, of real processes', () => {
  const env = sharedEnvironment({ worker: false, sandbox: { perLookMs: 30_000 } });
  let referenceId: string;
  let orderId: string;
  let lines: Record<string, unknown>[];
  let collector: Collector;
  let printed: string;

  beforeAll(async () => {
    collector = await startCollector();
    const tracing = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    const worker = await startReadyWorker({ env: workerEnvOf(env, tracing) });
    referenceId = env.reference('observed');
    env.sandbox.addFault({ operation: 'keys', action: { type: 'answer', status: 503 } });
    const purchase = ['purchase', referenceId, '--item', 'demo-seconds:2', '--wait', '--json'];
    const { stdout } = await starterProcess(purchase, { ...starterEnvOf(env), ...tracing });
    ({ orderId } = (JSON.parse(stdout) as { result: { orderId: string } }).result);
    await worker.end('SIGTERM');
    printed = (await worker.ended).stdout;
    lines = printed
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  });

  it('every line about it has its reference, and from the order on its id and what the partner calls his answer', () => {
    const ours = lines.filter(({ workflowId }) => workflowId === `purchase-${referenceId}`);
    expect(ours.filter((line) => line.referenceId !== referenceId)).toEqual([]);
    const line = (message: string) => ours.find((one) => one.message === message);
    const named = { orderId, partnerTraceId: expect.stringMatching(TRACE_ID) as string };
    expect(line('order placed')).toMatchObject({ level: 'info', ...named });
    expect(line('Activity failed')).toMatchObject({ level: 'warn', ...named });
    expect(line('event delivered')).toMatchObject({ level: 'info', ...named, type: 'purchase.delivered' });
    expect(line('purchase ended')).toMatchObject({ level: 'info', orderId, outcome: 'DELIVERED' });
  });

  it("is one trace from the checkout's call to the delivery, and the checkout gets its id", () => {
    const [start] = collector.spans.filter(({ name }) => name === 'StartWorkflow:purchaseWorkflow');
    const trace = collector.spans.filter(({ traceId }) => traceId === start!.traceId);
    const parents = (name: string): string[] => {
      const span = trace.find((one) => one.name === name);
      const parent = trace.find(({ spanId }) => spanId === span?.parentSpanId);
      return parent ? [parent.name, ...parents(parent.name)] : [];
    };
    const workflow = ['RunWorkflow:purchaseWorkflow', 'StartWorkflow:purchaseWorkflow'];
    expect(parents('partner placeOrder')).toEqual(['RunActivity:placeOrder', ...workflow]);
    expect(parents('partner getOrder')).toEqual([expect.stringMatching(/^RunActivity:/), ...workflow]);
    expect(parents('deliver purchase.delivered')).toEqual(['RunActivity:deliverEvent', ...workflow]);
    const delivery = trace.find(({ name }) => name === 'deliver purchase.delivered');
    expect(env.receiver.attemptsOf(referenceId).map(({ traceparent }) => traceparent)).toEqual([
      `00-${start!.traceId}-${delivery!.spanId}-01`,
    ]);
    expect(delivery!.attributes).toMatchObject({ 'purchase.reference': referenceId, 'purchase.order_id': orderId });
  });

  it('no span says more than ids, an operation and a status: no message of an error, no key, no secret', async () => {
    const failed = collector.spans.filter(({ attributes }) => attributes['http.response.status_code'] === 503);
    expect(failed).toMatchObject([
      { name: 'partner getOrder', attributes: { 'partner.trace_id': expect.stringMatching(TRACE_ID) as string } },
    ]);
    expect(collector.bodies).not.toMatch(/exception|the partner answered/);
    const [order] = await env.sandbox.ordersOf(referenceId);
    const keys = order!.items.flatMap((item) => item.keys ?? []).map(({ value }) => value);
    expect(keys).toHaveLength(2);
    for (const secret of [...keys, 'sandbox-key']) expect(collector.bodies + printed).not.toContain(secret);
  });

  it('without the variable nothing of OpenTelemetry is loaded', async () => {
    const tracing = JSON.stringify(join(__dirname, '../../../dist/tracing'));
    const load = `require(${tracing}).startTracing(undefined, 'worker', console.log); console.log(Object.keys(require.cache).join('\\n'))`;
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', load]);
    expect(stdout).toMatch(/tracing/);
    expect(stdout).not.toMatch(/opentelemetry/);
  });
});
