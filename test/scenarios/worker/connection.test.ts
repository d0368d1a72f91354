import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  connectClient,
  type ConnectRetry,
  TemporalConfigError,
  type TemporalTarget,
  TemporalUnreachableError,
} from '../../../src/temporal/client';
import { connectWorker } from '../../../src/temporal/worker';
import { rejectionOf } from '../../support/checks';
import { temporaryFolder } from '../../support/clean-up';
import { freePort } from '../../support/free-port';
import { type GrpcServer, startGrpcServer } from '../../support/grpc-server';
import { startServer, startTcpServer } from '../../support/http-server';
import { standaloneWorkerEnv, startStarter, startWorkerProcess } from '../../support/processes';
import { createAuthority, selfSigned } from '../../support/self-signed';

const UNAUTHENTICATED = 16;
const PERMISSION_DENIED = 7;
const API_KEY = 'canary-temporal-key';

const own = selfSigned();
const authority = createAuthority();
const byAuthority = { serverRootCACertificate: Buffer.from(authority.cert) };
const trusted = { serverRootCACertificate: Buffer.from(own.cert) };
const expired = authority.issue({ expired: true });
const other = { ...trusted, serverNameOverride: 'temporal.example' };
const MAY_NOT = 'the server refuses the API key or the client certificate (permission denied)';
const BY_A_STRANGER = 'the server refuses the client certificate: it does not trust the issuer';
const CLOSED = 'the connection was closed (the server expects TLS, or it is not a Temporal server)';
const fine = () => ({ status: 0 });
/** A server may echo what it received. */
const refusing = (status: number) => () => ({ status, message: `no: ${API_KEY}` });

const targetOf = (address: string, options: Partial<TemporalTarget['connectionOptions']> = {}): TemporalTarget => ({
  address,
  namespace: 'default',
  connectionOptions: { address, ...options } as TemporalTarget['connectionOptions'],
});

/** A gRPC server, and the settings to connect to it. */
const grpc = async (
  statusOf: Parameters<typeof startGrpcServer>[0],
  tls?: Parameters<typeof startGrpcServer>[1],
  options?: Partial<TemporalTarget['connectionOptions']>,
) => targetOf(`localhost:${(await startGrpcServer(statusOf, tls)).port}`, options);

const refused = (status: number) => grpc(refusing(status), undefined, { apiKey: API_KEY, tls: false });

/** A server that ends the handshake with this TLS alert, as servers in Go (such as Temporal) refuse a certificate. */
const alerting = async (alert: number) => {
  const { port } = await startTcpServer((socket) => socket.end(Buffer.from([21, 3, 3, 0, 2, 2, alert])));
  return targetOf(`localhost:${port}`, { tls: true });
};

/** Tries twice to connect. @returns the error and the lines that were logged */
async function connecting(connect: typeof CONNECT.worker, target: TemporalTarget, everyMs = 500, tries = 2) {
  const lines: string[] = [];
  const retry: ConnectRetry = { tries, everyMs, onRetry: (line) => void lines.push(line) };
  const failure = await rejectionOf(connect(target, retry));
  expect([...lines, failure?.message].join('\n')).not.toContain(API_KEY);
  return { lines, failure };
}

const CONNECT = {
  worker: async (target: TemporalTarget, retry: ConnectRetry) => (await connectWorker(target, retry)).close(),
  starter: async (target: TemporalTarget, retry: ConnectRetry) =>
    (await connectClient(target, retry)).connection.close(),
};

describe.each(Object.entries(CONNECT))('the connection of a %s', (_, connect) => {
  it.each<[cause: string, named: string, () => Promise<TemporalTarget>]>([
    ['the server refuses the API key (unauthenticated)', 'TEMPORAL_API_KEY', () => refused(UNAUTHENTICATED)],
    [MAY_NOT, 'TEMPORAL_NAMESPACE', () => refused(PERMISSION_DENIED)],
    [
      "the server's certificate is not trusted",
      'TEMPORAL_TLS_SERVER_CA_CERT_PATH',
      () => grpc(fine, own, { tls: true }),
    ],
    ["the server's certificate has expired", 'renewed on the server', () => grpc(fine, expired, { tls: byAuthority })],
    [
      "the server's certificate is for another host name",
      'TEMPORAL_TLS_SERVER_NAME',
      () => grpc(fine, own, { tls: other }),
    ],
    ['the server does not speak TLS', 'TEMPORAL_TLS=false', () => grpc(fine, undefined, { tls: true })],
    [
      'the server does not speak TLS',
      'An API key needs TLS',
      () => grpc(fine, undefined, { apiKey: API_KEY, tls: true }),
    ],
    ['the client certificate has expired', 'TEMPORAL_TLS_CLIENT_CERT_PATH', () => alerting(45)],
    [BY_A_STRANGER, 'TEMPORAL_TLS_CLIENT_CERT_PATH', () => alerting(48)],
  ])('is not retried when %s: the message names %s, and the exit code is 78', async (cause, named, makeTarget) => {
    const target = await makeTarget();
    const { lines, failure } = await connecting(connect, target, 10_000);
    expect(failure).toBeInstanceOf(TemporalConfigError);
    expect(failure).toMatchObject({ exitCode: 78 });
    expect(failure?.message).toContain(`Temporal at ${target.address} can't be used: ${cause}.`);
    expect(failure?.message).toContain(named);
    expect(lines).toEqual([]);
  });

  it('exits with 78, without a retry, when the server requires a client certificate', async () => {
    const target = await grpc(fine, { ...own, ca: own.cert, requestCert: true }, { tls: trusted });
    // In TLS 1.3 the refusal follows the handshake. It is lost when the connection is reset before it is read.
    const { failure } = await connecting(connect, target, 500, 30);
    expect(failure).toMatchObject({
      exitCode: 78,
      message: expect.stringContaining('the server requires a client certificate, and none is set'),
    });
  });

  it.each<[string, () => Promise<TemporalTarget>, string]>([
    ['nobody listens', async () => targetOf(`127.0.0.1:${await freePort()}`), 'connection refused'],
    ['the host name does not exist', async () => targetOf('no-such-host.invalid:7233'), 'host name not found'],
    ['nobody responds', async () => targetOf(`127.0.0.1:${(await startTcpServer()).port}`), 'no response'],
    ['the server speaks TLS and the client does not', () => grpc(fine, own), CLOSED],
    [
      'the server has an internal error',
      () => alerting(80),
      'the connection failed (ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR)',
    ],
    ['a web server responds', async () => targetOf(`127.0.0.1:${(await startServer()).port}`), CLOSED],
    [
      'the server is overloaded, whatever its message',
      () => grpc(() => ({ status: 14, message: 'certificate' })),
      'the server reports that it is unavailable',
    ],
  ])('is retried when %s: each log line names the cause, and the exit code is 69', async (_name, makeTarget, cause) => {
    const target = await makeTarget();
    const { lines, failure } = await connecting(connect, target);
    expect(lines).toEqual([`Temporal does not respond at ${target.address}, try 1 of 2: ${cause}`]);
    expect(failure).toBeInstanceOf(TemporalUnreachableError);
    expect(failure).toMatchObject({ exitCode: 69 });
    expect(failure?.message).toContain(`(2 tries): ${cause}.`);
  });
});

describe('a process with a refused API key exits with 78 at once, and the key is not in any output', () => {
  const plain = { TEMPORAL_TLS: 'false', ALLOW_PLAINTEXT: 'true' };
  const env = (port: number) =>
    standaloneWorkerEnv({ TEMPORAL_ADDRESS: `localhost:${port}`, TEMPORAL_API_KEY: API_KEY, ...plain });
  const openToAll = (method: string) => (method === 'GetSystemInfo' ? fine() : refusing(PERMISSION_DENIED)());

  it.each([
    ['when it connects', refusing(UNAUTHENTICATED)],
    ['at the first call that needs one', openToAll],
  ])('%s', async (_, statusOf) => {
    const server: GrpcServer = await startGrpcServer(statusOf);
    const worker = await startWorkerProcess({ env: env(server.port) });
    const starter = startStarter(['status', 'SALE-1', '--json'], env(server.port));
    for (const { code, stdout, stderr } of [await worker.ended, await starter.ended]) {
      expect({ code, stderr }).toEqual({ code: 78, stderr: expect.stringContaining('the server refuses the API key') });
      expect(stdout + stderr).not.toContain(API_KEY);
    }
    expect(new Set(server.authorizations)).toEqual(new Set([`Bearer ${API_KEY}`]));
  });
});

it('a process with an API key but without TLS exits with 78 before it connects, and names the setting that allows it', async () => {
  const server = await startGrpcServer(fine);
  const env = standaloneWorkerEnv({
    TEMPORAL_ADDRESS: `127.0.0.1:${server.port}`,
    TEMPORAL_API_KEY: API_KEY,
    TEMPORAL_TLS: 'false',
  });
  const worker = await startWorkerProcess({ env });
  const starter = startStarter(['status', 'SALE-1'], env);
  for (const { code, stdout, stderr } of [await worker.ended, await starter.ended]) {
    expect({ code, stderr }).toEqual({ code: 78, stderr: expect.stringContaining('ALLOW_PLAINTEXT=true') });
    expect(stdout + stderr).not.toContain(API_KEY);
  }
  expect(server.authorizations).toEqual([]);
});

it('a worker on a machine without root certificates says that Node brings its own and the SDK does not', async () => {
  const { port } = await startGrpcServer(fine, authority.issue());
  const ca = join(temporaryFolder(), 'ca.pem');
  writeFileSync(ca, authority.cert);
  const env = standaloneWorkerEnv({
    TEMPORAL_ADDRESS: `localhost:${port}`,
    TEMPORAL_TLS: 'true',
    NODE_EXTRA_CA_CERTS: ca,
  });
  const worker = await startWorkerProcess({ env });
  await worker.said("try 1 of 12: Node can reach the server, but Temporal's SDK can't");
  expect(await worker.end('SIGTERM')).toBe(0);
});
