import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { readWorkerConfig } from '../../../src/config';
import { VARIABLE_NAMES } from '../../../src/config/variables';
import { readTemporalTarget } from '../../../src/temporal/client';
import { shutdownOptions } from '../../../src/workflows/policies';
import { temporaryFolder } from '../../support/clean-up';
import { TEST_FINGERPRINT_SECRET, TEST_SIGNING_SECRET } from '../../support/settings';

interface Container {
  command?: string[];
  env: { name: string; value: string }[];
  ports: unknown;
  livenessProbe: { httpGet: unknown };
  readinessProbe: { httpGet: unknown };
}

interface Pod {
  terminationGracePeriodSeconds: number;
  volumes: unknown;
  containers: [Container];
}

interface Manifest {
  kind: string;
  data: Record<string, string>;
  stringData: Record<string, string>;
  spec: { template: { spec: Pod } };
}

const textOf = (file: string) => readFileSync(join(__dirname, '../../../ops/kubernetes', file), 'utf8');

function documentsOf<T>(file: string): T[] {
  return parseAllDocuments(textOf(file)).map((document) => document.toJS() as T);
}

function manifest(file: string, kind: string): Manifest {
  return documentsOf<Manifest>(file).find((one) => one.kind === kind)!;
}

const settings = manifest('base/config.yaml', 'ConfigMap').data;
const podOf = (file: string, kind: string) => manifest(file, kind).spec.template.spec;
const PODS = {
  'base/worker.yaml': podOf('base/worker.yaml', 'Deployment'),
  'versioned/worker-deployment.yaml': podOf('versioned/worker-deployment.yaml', 'WorkerDeployment'),
};
const SECRETS: Record<string, string> = {
  'partner-api-key': 'fake-key',
  'fingerprint-secret': TEST_FINGERPRINT_SECRET,
  'delivery-secret': TEST_SIGNING_SECRET,
};

/** The environment of a worker in this pod, with the secret files in a temporary folder. */
function environmentOf(pod: Pod): Record<string, string> {
  const folder = temporaryFolder();
  const env = { ...settings };
  for (const { name, value } of pod.containers[0].env) {
    env[name] = name.endsWith('_FILE') ? join(folder, basename(value)) : value;
    if (name.endsWith('_FILE')) writeFileSync(env[name], SECRETS[basename(value)] ?? '');
  }
  return env;
}

describe.each(Object.entries(PODS))('the worker of ops/kubernetes/%s', (_, pod) => {
  it('starts with its manifests: no name is misspelt, no value invalid, and no secret without a file', () => {
    const env = environmentOf(pod);
    expect(readWorkerConfig(env).delivery.kind).toBe('webhook');
    expect(readTemporalTarget(env)).toMatchObject({ address: settings.TEMPORAL_ADDRESS, namespace: 'default' });
    const known = [...VARIABLE_NAMES, 'TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE'] as string[];
    const names = Object.keys(env).map((name) => name.replace(/_FILE$/, ''));
    expect(names.filter((name) => !known.includes(name))).toEqual([]);
    const files = pod.containers[0].env.filter(({ name }) => name.endsWith('_FILE'));
    expect(files.map(({ value }) => basename(value))).toEqual(
      Object.keys(manifest('base/secret.example.yaml', 'Secret').stringData),
    );
  });

  it('is not killed during its own shutdown, in which requests to the partner finish', () => {
    const { shutdownForceTime } = shutdownOptions(readWorkerConfig(environmentOf(pod)).purchase);
    expect(pod.terminationGracePeriodSeconds * 1_000).toBeGreaterThan(shutdownForceTime);
  });

  it('is probed at the address where it listens', () => {
    const { env, ports, livenessProbe, readinessProbe } = pod.containers[0];
    const addresses = new Map(env.map(({ name, value }) => [name, value]));
    const portOf = (name: string) => Number(addresses.get(name)?.split(':').at(-1));
    expect(ports).toEqual([
      { name: 'health', containerPort: portOf('HEALTH_ADDRESS') },
      { name: 'metrics', containerPort: portOf('METRICS_ADDRESS') },
    ]);
    expect([livenessProbe.httpGet, readinessProbe.httpGet]).toEqual([
      { path: '/healthz', port: 'health' },
      { path: '/readyz', port: 'health' },
    ]);
  });
});

it('the Job that prepares Temporal mounts only the Temporal API key, and no other secret', () => {
  const { volumes } = podOf('base/setup.yaml', 'Job');
  const items = [{ key: 'temporal-api-key', path: 'temporal-api-key' }];
  const secret = { secretName: 'fulfilment-secrets', items, optional: true };
  expect(volumes).toMatchObject([{ name: 'secrets', secret }]);
});

interface NetworkPolicy {
  metadata: { name: string };
  spec: {
    podSelector: { matchLabels: Record<string, string> };
    policyTypes: string[];
    ingress?: { ports: { port: unknown }[] }[];
    egress?: { ports: { port: unknown }[] }[];
  };
}

it('every pod has a NetworkPolicy that allows no ingress, and only the egress that the settings need', () => {
  const { resources } = parse(textOf('base/kustomization.yaml')) as { resources: string[] };
  expect(resources).toContain('network-policy.yaml');
  const policies = documentsOf<NetworkPolicy>('base/network-policy.yaml').map(({ spec }) => ({
    pod: Object.values(spec.podSelector.matchLabels).join(),
    types: spec.policyTypes,
    ingress: spec.ingress,
    out: spec.egress?.flatMap(({ ports }) => ports.map(({ port }) => port)),
  }));
  const types = ['Ingress', 'Egress'];
  const temporal = Number(settings.TEMPORAL_ADDRESS?.split(':').at(-1));
  expect(policies).toEqual([
    { pod: 'fulfilment-worker', types, out: [53, 53, temporal, 443] },
    { pod: 'fulfilment-setup', types, out: [53, 53, temporal] },
  ]);
  expect([settings.PARTNER_BASE_URL, settings.DELIVERY_URL].map((url) => new URL(url!).protocol)).toEqual([
    'https:',
    'https:',
  ]);
});

it('only Prometheus reaches the metrics port, because the SDK sets no time limit on its connections', () => {
  const [, , policy] = documentsOf<NetworkPolicy>('monitoring/scrape.yaml');
  expect(policy?.spec).toMatchObject({
    podSelector: { matchLabels: { 'app.kubernetes.io/name': 'fulfilment-worker' } },
    policyTypes: ['Ingress'],
    ingress: [{ ports: [{ port: 'metrics' }] }],
  });
});

it('the versioned worker differs from the plain one only in what its controller sets', () => {
  const [plain, versioned] = Object.values(PODS).map(({ containers: [container], ...pod }) => ({
    ...{ ...pod, topologySpreadConstraints: undefined },
    container: { ...container, image: undefined, command: undefined },
  }));
  expect(versioned).toEqual(plain);
});

it('the worker accepts the version that the controller passes', () => {
  const [, , script = ''] = PODS['versioned/worker-deployment.yaml'].containers[0].command ?? [];
  const [, written = ''] = /WORKER_DEPLOYMENT_VERSION="([^"]+)"/.exec(script) ?? [];
  // The format of the controller: namespace/name, and the image tag with a hash.
  const said = written
    .replace('$TEMPORAL_DEPLOYMENT_NAME', 'shop/fulfilment')
    .replace('$TEMPORAL_WORKER_BUILD_ID', '0-1-0-5f3a');
  const env = { ...environmentOf(PODS['base/worker.yaml']), WORKER_DEPLOYMENT_VERSION: said };
  expect(readWorkerConfig(env).deploymentVersion).toEqual({ deploymentName: 'shop/fulfilment', buildId: '0-1-0-5f3a' });
});
