import { once } from 'node:events';
import { connect } from 'node:net';
import { freePort } from '../../support/free-port';
import { historyOf } from '../../support/history';
import { type ProcessEnv, startWorkerProcess, workerEnvOf } from '../../support/processes';
import { expectDeliveredOnce } from '../../support/purchase-checks';
import { sharedEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';

describe('a running worker process', () => {
  const env = sharedEnvironment({
    worker: false,
    sandbox: { agePerPollMs: 30_000 },
    settings: { partnerTimeoutMs: 2_000, deliveryTimeoutMs: 2_000 },
  });

  const start = (own: ProcessEnv = {}) => startWorkerProcess({ env: workerEnvOf(env, own) });
  const startReady = async (own: ProcessEnv = {}) => {
    const worker = await start(own);
    await worker.untilHealth('/readyz', 200);
    return worker;
  };

  it('exports its counters, its gauges and the metrics of the SDK to Prometheus under their documented names', async () => {
    const worker = await startReady({ PARTNER_MAX_RPS: '50' });
    await env.bought({ 'demo-instant': 1 });

    // The gauges may first be read after the first purchase.
    const metrics = await waitUntil('the gauges are shown', async () => {
      const shown = await worker.metrics();
      return shown.includes('\nfulfilment_last_reconciliation_repaired{') && shown;
    });
    for (const shown of [
      /^fulfilment_purchases_ended_total\{[^}]*outcome="DELIVERED"[^}]*\} 1$/m,
      // Exported although it is 0: Prometheus sees no increase when a series starts at 1.
      /^fulfilment_purchases_ended_total\{[^}]*outcome="OVERDUE"[^}]*\} 0$/m,
      /^fulfilment_purchase_duration_seconds_count\{[^}]*outcome="DELIVERED"[^}]*\} 1$/m,
      /^fulfilment_purchase_debit_sum\{[^}]*outcome="DELIVERED"[^}]*\} 4\.99$/m,
      /^fulfilment_placements_total\{[^}]*evidence="PLACED"[^}]*\} 1$/m,
      /^fulfilment_polls_total\{[^}]*result="ended"[^}]*\} 1$/m,
      /^fulfilment_delivery_attempts_total\{[^}]*result="received"[^}]*\} 1$/m,
      /^fulfilment_partner_request_duration_seconds_bucket\{[^}]*operation="placeOrder",[^}]*response="ok"[^}]*le="0.01"\} /m,
      /^fulfilment_partner_permit_wait_seconds_count\{[^}]*class="placement"[^}]*\} 2$/m,
      /^fulfilment_partner_headroom\{[^}]*\} 109995\.01$/m,
      /^fulfilment_running_purchases\{[^}]*state="HELD"[^}]*\} 0$/m,
      /^temporal_workflow_completed_total\{/m,
      /^temporal_workflow_task_schedule_to_start_latency_seconds_bucket\{/m,
    ]) {
      expect(metrics).toMatch(shown);
    }
    expect(metrics).not.toContain('sandbox-key');
    expect(await worker.end('SIGINT')).toBe(0);
  });

  it('finishes a placement after SIGTERM: the order is sent once and its response is not lost', async () => {
    const worker = await startReady({ PARTNER_TIMEOUT: '10s' });
    const referenceId = await env.buyFacing({ operation: 'place', action: { type: 'delay', ms: 1_500 } });
    await env.untilSent(referenceId);

    worker.signal('SIGTERM');
    expect(await worker.untilHealth('/readyz', 503)).toMatch(/^the worker is (STOPPING|DRAINING)$/);
    expect(await worker.health('/healthz')).toMatchObject({ status: 200 });
    const { code, signal, stdout } = await worker.ended;
    expect({ code, signal }).toEqual({ code: 0, signal: null });
    for (const line of stdout.trim().split('\n')) expect(() => JSON.parse(line) as unknown).not.toThrow();

    const next = await start();
    await expectDeliveredOnce(env, referenceId, 1);
    // No search confirmed the order, so the history holds the response itself.
    expect((await historyOf(env, referenceId)).activities).not.toContain('findOrders');
    expect(await next.end('SIGTERM')).toBe(0);
  });

  it('ends at once on SIGTERM, even while a silent client keeps a connection to the health port open', async () => {
    const port = await freePort();
    const worker = await startReady({ HEALTH_ADDRESS: `127.0.0.1:${port}` });
    const open = (said: string) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(said));
      return socket.on('error', () => {});
    };
    const silent = open('');
    const half = open('GET /healthz HTTP/1.1\r\nHost:');
    const idle = open('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await Promise.all([once(silent, 'connect'), once(half, 'connect'), once(idle, 'data')]);

    expect(await worker.end('SIGTERM')).toBe(0);
    // Node itself closes such connections only after a minute.
  }, 30_000);

  it('keeps running after the reader of its log has gone', async () => {
    const worker = await startReady();
    worker.child.stdout!.destroy();
    worker.child.stderr!.destroy();
    expect(await env.bought({ 'demo-instant': 1 })).toMatchObject({ outcome: 'DELIVERED' });
    expect(await env.bought({ 'demo-instant': 1 })).toMatchObject({ outcome: 'DELIVERED' });
    expect(await worker.end('SIGTERM')).toBe(0);
  });

  it('only warns when the partner cannot be reached, and still becomes ready', async () => {
    const worker = await startReady({ PARTNER_BASE_URL: `http://127.0.0.1:${await freePort()}` });
    await worker.said("the partner can't be used: listOrders: no connection to the partner (ECONNREFUSED)");
    expect(await worker.end('SIGTERM')).toBe(0);
  });

  it.each(['HEALTH_ADDRESS', 'METRICS_ADDRESS'])(
    'exits with 78 and names the variable when the address of %s is in use',
    async (variable) => {
      const port = new URL(env.sandbox.url).port;
      const worker = await start({ [variable]: `127.0.0.1:${port}` });
      const { code, stderr } = await worker.ended;
      expect(code).toBe(78);
      expect(stderr).toContain(`${variable} 127.0.0.1:${port} can't be used`);
    },
  );
});
