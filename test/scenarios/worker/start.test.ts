import { chmodSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StoppedError } from '../../../src/temporal/client';
import { connectWorker } from '../../../src/temporal/worker';
import { temporaryFolder } from '../../support/clean-up';
import { startDevServer } from '../../support/dev-server';
import { freePort } from '../../support/free-port';
import { startTcpServer } from '../../support/http-server';
import {
  standaloneWorkerEnv,
  starterEnvOf,
  starterProcess,
  startWorkerProcess,
  workerEnv,
  workerEnvOf,
} from '../../support/processes';
import { startTestEnvironment } from '../../support/test-environment';

describe('a worker that cannot start says why before it does anything', () => {
  it('exits with 78 and names every wrong variable at once, shows no secret and connects to nothing', async () => {
    const temporal = await startTcpServer();
    const partner = await startTcpServer();
    const env = workerEnv({
      TEMPORAL_ADDRESS: `127.0.0.1:${temporal.port}`,
      PARTNER_BASE_URL: `127.0.0.1:${partner.port}`,
      PARTNER_API_KEY: 'canary-api-key',
      PARTNER_TIMEOUT: 'soon',
      DELIVERY_URL: 'http://canary.example',
      PURCHASE_DEADLNE: '25m',
      FINGERPRINT_SECRET: 'canary-short',
      DELIVERY_SECRET: 'canary-whsec',
    });
    const { code, stdout, stderr } = await (await startWorkerProcess({ env })).ended;

    expect(code).toBe(78);
    const named = [...stderr.matchAll(/^ {2}([A-Z_]+)(?:: | is not set)/gm)].map(([, name]) => name);
    expect(named.toSorted()).toEqual([
      'DELIVERY_SECRET',
      'DELIVERY_URL',
      'FINGERPRINT_SECRET',
      'PARTNER_BASE_URL',
      'PARTNER_TIMEOUT',
      'PURCHASE_DEADLNE',
    ]);
    expect(stderr).not.toContain('canary');
    expect(stdout).toBe('');
    expect([temporal.connections, partner.connections]).toEqual([0, 0]);
  });

  it('exits with 78 and names a delivery folder on a file system that cannot sync', async () => {
    const lacking = join(temporaryFolder(), 'lacking.cjs');
    const error = "Object.assign(new Error('x'), { code: 'EINVAL', syscall: 'fsync' })";
    writeFileSync(lacking, `require('node:fs').fsyncSync = () => { throw ${error}; };`);
    const deliveries = temporaryFolder();
    const env = standaloneWorkerEnv({ DELIVERY_URL: undefined, DELIVERY_SECRET: undefined, DELIVERY_DIR: deliveries });
    const worker = await startWorkerProcess({ env, nodeArgs: ['--require', lacking] });
    const { code, stderr } = await worker.ended;
    expect({ code, stderr }).toEqual({ code: 78, stderr: expect.stringContaining('EINVAL at fsync') as string });
    expect(stderr).toContain('Choose a folder on a file system that');
    expect(readdirSync(deliveries)).toEqual([]);
  });

  it('warns about a secret file that every user can read, even before it can log', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'partner-key');
    writeFileSync(path, 'canary-api-key', { mode: 0o644 });
    chmodSync(folder, 0o755);
    const temporal = { TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}` };
    const env = standaloneWorkerEnv({ ...temporal, PARTNER_API_KEY: undefined, PARTNER_API_KEY_FILE: path });
    const worker = await startWorkerProcess({ env });
    await worker.said('try 1 of 12');
    expect(worker.output()).toContain(`PARTNER_API_KEY_FILE: every user of this machine can read the file ${path}`);
    expect(await worker.end('SIGTERM')).toBe(0);
    expect(worker.output()).not.toContain('canary');
  });

  it('exits without an error when it is asked to stop while it tries to connect', async () => {
    const stop = new AbortController();
    const address = `127.0.0.1:${await freePort()}`;
    const options = { tries: 2, everyMs: 3_600_000, onRetry: () => stop.abort(), signal: stop.signal };
    const stopped = connectWorker({ address, namespace: 'default', connectionOptions: { address } }, options);
    await expect(stopped).rejects.toThrow(StoppedError);
    await expect(stopped).rejects.toMatchObject({ exitCode: 0 });
  });

  it('is alive but not ready while Temporal does not respond, and exits with 0 on SIGTERM', async () => {
    const env = standaloneWorkerEnv({ TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}` });
    const worker = await startWorkerProcess({ env });
    await worker.said(`Temporal does not respond at ${env.TEMPORAL_ADDRESS}, try 1 of 12: connection refused`);
    expect(await worker.health('/healthz')).toEqual({ status: 200, body: 'alive' });
    expect(await worker.health('/readyz')).toEqual({ status: 503, body: 'starting' });

    expect(await worker.end('SIGTERM')).toBe(0);
  });
});

describe('a worker and its Temporal server', () => {
  it('without search attributes it exits with 78 and prints the command that adds them; after it, a purchase runs', async () => {
    const { address } = await startDevServer({ setUp: false });
    const environment = await startTestEnvironment({ address, worker: false, sandbox: { agePerPollMs: 30_000 } });
    const [env, temporal] = [workerEnvOf(environment), starterEnvOf(environment)];
    const { code, stderr } = await (await startWorkerProcess({ env })).ended;
    expect(code).toBe(78);
    expect(stderr).toMatch(/ReferenceId, PartnerOrderId, PurchaseState: register them with `npx fulfilment setup`/);

    const started = await starterProcess(['purchase', 'FIRST-1', '--item', 'demo-instant:1'], temporal);
    const status = await starterProcess(['status', 'FIRST-1'], temporal);
    expect([started.code, status.code]).toEqual([0, 0]);
    expect(status.stdout).toContain('nothing has happened yet: no worker has picked it up');

    const setup = await starterProcess(['setup', '--json'], temporal);
    const registered = ['ReferenceId', 'PartnerOrderId', 'PurchaseState'];
    expect(JSON.parse(setup.stdout)).toEqual({ namespace: 'default', registered });

    const again = await starterProcess(['setup'], { ...temporal, TEMPORAL_UI_URL: 'http://ui.example' });
    expect(again.stdout).toContain('\n  held          http://ui.example/namespaces/default/workflows?query=');

    const worker = await startWorkerProcess({ env });
    await worker.untilHealth('/readyz', 200);
    const bought = await starterProcess(['purchase', 'FIRST-1', '--item', 'demo-instant:1', '--wait'], temporal);
    expect(bought.code).toBe(0);
    expect(await worker.end('SIGTERM')).toBe(0);
  });

  it('is ready only while the server sees it polling, and not after the server is gone', async () => {
    const server = await startDevServer();
    const env = workerEnvOf(await startTestEnvironment({ address: server.address, worker: false }));
    const worker = await startWorkerProcess({ env });
    expect(await worker.untilHealth('/readyz', 200)).toBe('polling');

    await server.stop();
    await worker.untilHealth('/readyz', 503);
    expect(await worker.health('/healthz')).toEqual({ status: 200, body: 'alive' });
  });
});
