import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectClient, readTemporalTarget } from '../../../src/temporal/client';
import { connectWorker } from '../../../src/temporal/worker';
import { temporaryFolder } from '../../support/clean-up';
import { startGrpcServer } from '../../support/grpc-server';
import { starterProcess, startReadyWorker, workerEnvOf } from '../../support/processes';
import { createAuthority } from '../../support/self-signed';
import { startTestEnvironment } from '../../support/test-environment';
import { startTlsProxy } from '../../support/tls-proxy';
import { waitUntil } from '../../support/wait-until';

const authority = createAuthority();
const ours = authority.issue();
const folder = temporaryFolder();

/** Writes a PEM file. @returns its path */
function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

/** A server that accepts only client certificates of our authority. */
const mutual = { ...authority.issue(), ca: authority.cert, requestCert: true, rejectUnauthorized: true };
const paths = {
  ca: file('ca.pem', authority.cert),
  cert: file('client.pem', ours.cert),
  key: file('client.key', ours.key),
};
const tlsVariables = {
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: paths.ca,
  TEMPORAL_TLS_CLIENT_CERT_PATH: paths.cert,
  TEMPORAL_TLS_CLIENT_KEY_PATH: paths.key,
};

it('a worker and a starter with the right certificate deliver a purchase, with variables or with a profile', async () => {
  const env = await startTestEnvironment({ worker: false, ownNamespace: true });
  const address = await startTlsProxy(env.address, mutual);
  const profile = [
    '[profile.shop]',
    `address = "${address}"`,
    `namespace = "${env.namespace}"`,
    '[profile.shop.tls]',
    `server_ca_cert_path = "${paths.ca}"`,
    `client_cert_path = "${paths.cert}"`,
    `client_key_path = "${paths.key}"`,
  ];
  const byProfile = {
    TEMPORAL_CONFIG_FILE: file('temporal.toml', profile.join('\n')),
    TEMPORAL_PROFILE: 'shop',
    TEMPORAL_TASK_QUEUE: env.taskQueue,
  };
  const byVariables = {
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: env.namespace,
    TEMPORAL_TASK_QUEUE: env.taskQueue,
    ...tlsVariables,
  };
  // Variables override the profile, so these two are left out when the profile must provide them.
  const without = { TEMPORAL_ADDRESS: undefined, TEMPORAL_NAMESPACE: undefined };
  await startReadyWorker({ env: workerEnvOf(env, { ...without, ...byProfile }) });

  const bought = await starterProcess(
    ['purchase', 'SALE-1', '--item', 'demo-instant:1', '--wait', '--json'],
    byVariables,
  );
  expect(bought).toMatchObject({ code: 0 });
  expect(JSON.parse(bought.stdout)).toMatchObject({ result: { outcome: 'DELIVERED' } });
  const status = await starterProcess(['status', 'SALE-1', '--json'], byProfile);
  expect(JSON.parse(status.stdout)).toMatchObject({ state: 'DELIVERED' });
  expect(env.eventTypes('SALE-1')).toEqual(['purchase.delivered']);
});

/** The connection of the worker or the client, with a function that makes a call on it. */
const CONNECT = {
  worker: connectWorker,
  starter: async (...given: Parameters<typeof connectClient>) => (await connectClient(...given)).connection,
};

it.each(Object.entries(CONNECT))(
  'the connection of a %s uses a new API key without a restart, because keys of Temporal Cloud expire',
  async (_, connect) => {
    const { port, authorizations } = await startGrpcServer(() => ({ status: 0 }));
    let key = 'first-key';
    const env = { TEMPORAL_ADDRESS: `localhost:${port}`, TEMPORAL_TLS: 'false' };
    const target = readTemporalTarget(env, { temporalApiKey: () => key, allowPlaintext: true });
    const connection = await connect(target, { tries: 2, everyMs: 5_000, onRetry: () => {} });
    key = 'second-key';
    await waitUntil('the new key is sent', async () => {
      await connection.workflowService.getSystemInfo({});
      return authorizations.includes('Bearer second-key');
    });
    await connection.close();
    expect(authorizations[0]).toBe('Bearer first-key');
  },
);
