import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import type { LedgerReport } from '../../sandbox/ledger-report';
import { closeAtEnd, temporaryFolder } from '../support/clean-up';
import { freePort } from '../support/free-port';
import { waitUntil } from '../support/wait-until';
import { type Ended, ENGINE, openProject, type Project, run } from './engine';
import { ensureImages, removeImages } from './images';

/*
 * All of docker-compose.yml, started by a real container engine from a fresh copy of the project: `npm run
 * test:compose`. Each test continues from the state that the previous test left.
 */

const ROOT = join(__dirname, '../..');
const OUR_IMAGE = 'durable-fulfilment-worker:test';
const MINUTE = 60_000;
const PORTS = ['TEMPORAL', 'TEMPORAL_HTTP', 'TEMPORAL_UI', 'SANDBOX', 'PROMETHEUS', 'GRAFANA'] as const;

const folder = temporaryFolder();
const ports = {} as Record<(typeof PORTS)[number], number>;
let project: Project;

const secret = (name: string) => readFileSync(join(folder, 'secrets', name), 'utf8').trim();
const starter = (...args: string[]) => project.exec('worker', 'npx', 'fulfilment', ...args);
const get = async (port: (typeof PORTS)[number], path: string) =>
  (await fetch(`http://127.0.0.1:${ports[port]}${path}`, { headers: { connection: 'close' } })).text();
const ledger = async () =>
  (JSON.parse(await get('SANDBOX', '/admin/ledger?keys=1')) as LedgerReport).references.flatMap(({ orders }) => orders);

/** Waits until a service that runs once has ended, and returns its output. */
async function outputOf(service: string): Promise<string> {
  const hasEnded = async () => (await project.state(service)).State === 'exited';
  await waitUntil(`${service} has ended`, hasEnded, { everyMs: 500 });
  const output = await project.logs(service);
  expect({ output, code: (await project.state(service)).ExitCode }).toEqual({ output, code: 0 });
  return output;
}

function succeed({ code, output }: Ended): string {
  expect({ output, code }).toEqual({ output, code: 0 });
  return output;
}

/** A clone of the project, plus changes that are not committed yet. */
async function copyProject(): Promise<void> {
  const files = await run(['git', 'ls-files', '--cached', '--others', '--exclude-standard'], { cwd: ROOT });
  for (const file of files.split('\n')) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(ROOT, file), join(folder, file));
  }
}

beforeAll(async () => {
  await copyProject();
  for (const name of PORTS) ports[name] = await freePort();
  const numbers = Object.fromEntries(PORTS.map((name) => [`${name}_PORT`, String(ports[name])]));
  project = await openProject('fulfilment-test', folder, { ...numbers, IMAGE_TAG: 'test' });
  // Remove what an interrupted run left behind.
  await run(['sh', 'ops/make-secrets.sh'], { cwd: folder });
  await project.compose('down', '--volumes', '--timeout', '5');
  rmSync(join(folder, 'secrets'), { recursive: true });
  // So that `up` builds it.
  await removeImages([OUR_IMAGE]);
  const standIns = await ensureImages();
  closeAtEnd(() => removeImages([...standIns, OUR_IMAGE]));
  closeAtEnd(() => project.compose('down', '--volumes', '--timeout', '20'));
}, 60 * MINUTE);

it(
  'one command creates the secrets, and `up` starts everything and delivers a first purchase',
  async () => {
    await run(['sh', 'ops/make-secrets.sh'], { cwd: folder });
    writeFileSync(join(folder, '.env'), 'PURCHASE_REPLACE=never\n');
    await project.compose('up', '--detach');
    expect(await outputOf('first-purchase')).toContain('DELIVERED');
    expect(await project.logs('checkout')).toContain('purchase.delivered FIRST-1, 2 keys: signature verified');
  },
  30 * MINUTE,
);

it(
  'doctor finds no problem with the namespace, retention, search attributes, schedule, workers or delivery',
  async () => {
    let last = '';
    // On a busy machine Podman's DNS server may ignore a container for half a minute after its start.
    await waitUntil(
      () => `doctor finds no fault; it found:\n${last}`,
      async () => (last = (await starter('doctor')).output).includes('\n0 problems'),
      { everyMs: 1_000 },
    );
  },
  5 * MINUTE,
);

it("a reconciliation writes its report, and its user can't write anywhere else", async () => {
  const findings = succeed(await starter('reconcile'));
  expect(findings).toContain('no findings');
  const [report = ''] = /\/app\/reports\/\S+\.html/.exec(findings) ?? [];
  expect(succeed(await project.exec('worker', 'cat', report))).toContain('</html>');
  for (const path of ['/app/another', '/etc/another', '/run/secrets/delivery'])
    expect((await project.exec('worker', 'sh', '-c', `echo > ${path}`)).code).not.toBe(0);
  expect(succeed(await project.exec('worker', 'id', '-u')).trim()).toBe('1000');
  const status = succeed(await project.exec('worker', 'cat', '/proc/1/status'));
  expect(status).toMatch(/CapEff:\s+0+\n/);
  expect(status).toMatch(/NoNewPrivs:\s+1\n/);
});

it('the image has the root certificates for Temporal Cloud where the SDK looks for them', async () => {
  const bundle = succeed(await project.exec('worker', 'cat', '/etc/ssl/certs/ca-certificates.crt'));
  expect(bundle.split('BEGIN CERTIFICATE').length).toBeGreaterThan(100);
});

it('a setting in .env reaches the purchases: PURCHASE_REPLACE', async () => {
  const connection = await Connection.connect({ address: `127.0.0.1:${ports.TEMPORAL}` });
  closeAtEnd(() => connection.close());
  const { events } = await new Client({ connection }).workflow.getHandle('purchase-FIRST-1').fetchHistory();
  // The first local activity of a purchase reads the settings that the purchase keeps.
  const [first] = (events ?? []).flatMap(({ markerRecordedEventAttributes: marker }) => marker?.details?.result ?? []);
  const recorded = Buffer.from(first?.payloads?.[0]?.data ?? []).toString('utf8');
  expect(JSON.parse(recorded)).toMatchObject({ settings: { replace: 'never' } });
});

it(
  'a stopped worker exits by itself, and another one continues its purchase',
  async () => {
    succeed(await starter('purchase', 'SECOND-1', '--item', 'demo-seconds:1'));
    await project.compose('stop', 'worker');
    expect((await project.state('worker')).ExitCode).toBe(0);
    await project.compose('start', 'worker');
    expect(succeed(await starter('purchase', 'SECOND-1', '--item', 'demo-seconds:1', '--wait'))).toContain('DELIVERED');
  },
  MINUTE * 3,
);

it(
  'a second `up` does not replace running services, and buys nothing again',
  async () => {
    const before = await project.state('worker');
    // Through Podman's API, Compose considers every image changed.
    const asTheyAre = ENGINE === 'podman' ? ['--no-recreate'] : [];
    await project.compose('up', '--detach', ...asTheyAre);
    expect(await outputOf('first-purchase')).toContain('DELIVERED');
    expect((await project.state('worker')).ID).toBe(before.ID);
    expect((await ledger()).map(({ referenceId }) => referenceId).toSorted()).toEqual(['FIRST-1', 'SECOND-1']);
    const received = await project.logs('checkout');
    expect(received.match(/purchase\.delivered FIRST-1/g)).toHaveLength(1);
  },
  5 * MINUTE,
);

it('Prometheus has the worker and the rules, and the web UIs respond', async () => {
  const scraped = () => get('PROMETHEUS', '/api/v1/query?query=up%7Bjob=%22fulfilment-worker%22%7D');
  await waitUntil('the worker is scraped', async () => /,"1"\]/.test(await scraped()), { everyMs: 500 });
  expect(await get('PROMETHEUS', '/api/v1/rules')).toContain('PartnerAccessDenied');
  expect(await get('TEMPORAL_UI', '/')).toContain('<html');
  expect(await get('TEMPORAL_UI', '/api/v1/namespaces/default')).toContain('"name": "default"');
  await get('GRAFANA', '/');
});

it('no log contains a key or a secret', async () => {
  const keys = (await ledger()).flatMap(({ items }) => items.flatMap(({ keys: issued = [] }) => issued));
  expect(keys).toHaveLength(3);
  const secrets = [...keys.map(({ value }) => value), secret('fingerprint'), secret('delivery')];
  const logs = await project.logs();
  expect(logs).toContain('FIRST-1');
  for (const value of secrets) expect(logs).not.toContain(value);
});

it(
  'docker-compose.partner.yml reads the partner from .env and its key from a file, and does not start without them',
  async () => {
    const files = ['-f', 'docker-compose.yml', '-f', 'docker-compose.partner.yml'];
    await expect(project.compose(...files, 'up', '--detach')).rejects.toThrow('PARTNER_BASE_URL');
    writeFileSync(
      join(folder, '.env'),
      'PARTNER_BASE_URL=http://sandbox:4010\nDELIVERY_URL=http://checkout:4020/events\n' +
        'ALLOW_PLAINTEXT=true\nPURCHASE_REPLACE=always\n',
    );
    writeFileSync(join(folder, 'key'), 'sandbox-key');
    await run(['sh', '-c', 'sh ops/make-secrets.sh partner-api-key < key'], { cwd: folder });
    const services = await project.compose(...files, 'config', '--services');
    expect(services.split('\n')).toEqual(expect.arrayContaining(['worker', 'setup', 'temporal']));
    for (const name of ['sandbox', 'checkout', 'first-purchase']) expect(services.split('\n')).not.toContain(name);
    // The sandbox that is still running acts as the partner.
    await project.compose(...files, 'up', '--detach', '--no-deps', 'worker');
    await waitUntil('the worker is ready', async () => (await starter('doctor')).code === 0, { everyMs: 1_000 });
    const environment = succeed(await project.exec('worker', 'sh', '-c', 'tr "\\0" "\\n" < /proc/1/environ'));
    expect(environment).toContain('PURCHASE_REPLACE=always');
    expect(environment).not.toContain('sandbox-key');
    rmSync(join(folder, '.env'));
  },
  5 * MINUTE,
);
