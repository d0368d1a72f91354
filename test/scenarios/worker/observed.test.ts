import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@temporalio/client';
import { purchaseWorkflowId } from '../../../src/contracts/names';
import { createStarter } from '../../../src/starter/index';
import { type Collector, type CollectedSpan, startCollector } from '../../support/collector';
import { starterEnvOf, starterProcess, startReadyWorker, workerEnvOf } from '../../support/processes';
import { sharedEnvironment } from '../../support/test-environment';
import { UNDECODABLE_PAYLOADS } from '../../support/undecodable';

const TRACE_ID = /^[0-9a-f]{32}$/;

describe('a purchase in the logs and traces of real processes', () => {
  const env = sharedEnvironment({
    worker: false,
    sandbox: { agePerPollMs: 30_000 },
    settings: { pollIntervalMs: 500 },
  });
  let referenceId: string;
  let orderId: string;
  let movedReference: string;
  let untracedReference: string;
  let lines: Record<string, unknown>[];
  let collector: Collector;
  let printed: string;

  beforeAll(async () => {
    [referenceId, movedReference, untracedReference] = [env.reference(), env.reference(), env.reference()];
    collector = await startCollector();
    const tracing = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    const buy = async (...args: string[]) => {
      const { stdout } = await starterProcess(['purchase', ...args, '--json'], { ...starterEnvOf(env), ...tracing });
      return JSON.parse(stdout) as { result: { orderId: string } };
    };
    const untracedWorker = await startReadyWorker({ env: workerEnvOf(env) });
    await buy(movedReference, '--item', 'demo-never:1');
    await env.untilState(movedReference, 'PENDING');
    await untracedWorker.end('SIGTERM');

    const worker = await startReadyWorker({ env: workerEnvOf(env, tracing) });
    await env.changeOrder(movedReference, { status: 'COMPLETED' });
    await buyWithBrokenHeader(untracedReference);
    await env.ended([movedReference, untracedReference]);
    env.sandbox.addFault({ operation: 'keys', action: { type: 'answer', status: 503 } });
    ({ orderId } = (await buy(referenceId, '--item', 'demo-seconds:2', '--wait')).result);
    await worker.end('SIGTERM');
    printed = (await worker.ended).stdout;
    lines = printed
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  });

  /** As any client can start it, with a trace header that no interceptor can decode. */
  async function buyWithBrokenHeader(reference: string): Promise<void> {
    const [, broken] = UNDECODABLE_PAYLOADS[0]!;
    const interceptor = {
      startWithDetails<Input extends { headers: object }, Started>(input: Input, next: (input: Input) => Started) {
        return next({ ...input, headers: { ...input.headers, '_tracer-data': broken } });
      },
    };
    const { connection, options } = env.client;
    const client = new Client({ connection, namespace: options.namespace, interceptors: { workflow: [interceptor] } });
    const items = [{ productId: 'demo-instant', quantity: 1 }];
    await createStarter(client, { taskQueue: env.taskQueue }).purchase({ referenceId: reference, items });
  }

  const spansOf = (reference: string) =>
    collector.spans.filter(({ attributes }) => attributes.temporalWorkflowId === purchaseWorkflowId(reference));
  /** The names of the spans above the span with this name, nearest first. */
  const parents = (trace: CollectedSpan[], name: string): string[] => {
    const span = trace.find((one) => one.name === name);
    const parent = trace.find(({ spanId }) => spanId === span?.parentSpanId);
    return parent ? [parent.name, ...parents(trace, parent.name)] : [];
  };
  const START = 'StartWorkflow:purchaseWorkflow';

  it("has its reference in every log line, then also its order id and the trace id of the partner's last response", () => {
    const ours = lines.filter(({ workflowId }) => workflowId === purchaseWorkflowId(referenceId));
    expect(ours.filter((line) => line.referenceId !== referenceId)).toEqual([]);
    const line = (message: string) => ours.find((one) => one.message === message);
    const named = { orderId, partnerTraceId: expect.stringMatching(TRACE_ID) as string };
    expect(line('order placed')).toMatchObject({ level: 'info', ...named });
    expect(line('Activity failed')).toMatchObject({ level: 'warn', ...named });
    expect(line('event delivered')).toMatchObject({ level: 'info', ...named, type: 'purchase.delivered' });
    expect(line('purchase ended')).toMatchObject({ level: 'info', orderId, outcome: 'DELIVERED' });
  });

  it('is one trace from the start to the delivery, and the checkout receives the trace id', () => {
    const [start] = spansOf(referenceId).filter(({ name }) => name === START);
    const trace = collector.spans.filter(({ traceId }) => traceId === start!.traceId);
    expect(parents(trace, 'partner placeOrder')).toEqual(['RunActivity:placeOrder', START]);
    expect(parents(trace, 'partner getOrder')).toEqual([expect.stringMatching(/^RunActivity:/), START]);
    expect(parents(trace, 'deliver purchase.delivered')).toEqual([
      expect.stringMatching(/^RunActivity:deliver/),
      START,
    ]);
    const delivery = trace.find(({ name }) => name === 'deliver purchase.delivered');
    expect(env.receiver.attemptsOf(referenceId).map(({ traceparent }) => traceparent)).toEqual([
      `00-${start!.traceId}-${delivery!.spanId}-01`,
    ]);
    expect(delivery!.attributes).toMatchObject({ 'purchase.reference': referenceId, 'purchase.order_id': orderId });
  });

  it('is continued by a traced worker after an untraced one, in the trace of its start', () => {
    const names = spansOf(movedReference).map(({ name }) => name);
    expect(names).toContain(START);
    expect(names).not.toContain('RunActivity:placeOrder');
    expect(names.filter((name) => name.startsWith('RunActivity:')).length).toBeGreaterThan(0);
    expect(new Set(spansOf(movedReference).map(({ traceId }) => traceId)).size).toBe(1);
    expect(printed).not.toMatch(/nondeterminism/i);
  });

  it('is one trace with the id of its run when its start was not traced or the header cannot be decoded', async () => {
    const { runId } = await env.handleOf(untracedReference).describe();
    const spans = spansOf(untracedReference);
    expect(spans.map(({ name }) => name)).toContain('RunActivity:placeOrder');
    expect(spans.map(({ name }) => name)).not.toContain(START);
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([runId.replaceAll('-', '')]));
  });

  it('has only ids, operations and statuses in its spans: no error message, no key and no secret', async () => {
    const failed = collector.spans.filter(({ attributes }) => attributes['http.response.status_code'] === 503);
    expect(failed).toMatchObject([
      { name: 'partner getOrder', attributes: { 'partner.trace_id': expect.stringMatching(TRACE_ID) as string } },
    ]);
    expect(collector.bodies).not.toMatch(/exception|the partner returned/);
    const { issued } = await env.audit(referenceId);
    expect(issued).toHaveLength(2);
    for (const secret of [...issued, 'sandbox-key']) expect(collector.bodies + printed).not.toContain(secret);
  });

  it('without the variable no part of OpenTelemetry is loaded', async () => {
    const tracing = JSON.stringify(join(__dirname, '../../../dist/tracing'));
    const load = `require(${tracing}).startTracing(undefined, 'worker', console.log); console.log(Object.keys(require.cache).join('\\n'))`;
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', load]);
    expect(stdout).toMatch(/tracing/);
    expect(stdout).not.toMatch(/opentelemetry/);
  });
});
