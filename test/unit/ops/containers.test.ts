import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, linkSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { readWorkerConfig } from '../../../src/config';
import { shutdownOptions } from '../../../src/workflows/policies';
import { temporaryFolder } from '../../support/clean-up';

const ROOT = join(__dirname, '../../..');

interface Service {
  image: string;
  ports?: string[];
  volumes?: string[];
  environment?: Record<string, string>;
  env_file?: unknown;
  secrets?: string[];
  stop_grace_period?: string;
}

interface Project {
  name: string;
  services: Record<string, Service>;
}

const composeFile = (name: string) => parse(readFileSync(join(ROOT, name), 'utf8'), { merge: true }) as Project;
const sandbox = composeFile('docker-compose.yml');
const partner = composeFile('docker-compose.partner.yml');
const services = Object.values(sandbox.services);
const isOurs = (image: string) => image.startsWith('durable-fulfilment-worker:');
const dockerfile = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');

/** Runs the script in a folder that contains nothing else. */
function makeSecrets(folder = temporaryFolder(), ...args: string[]): string {
  mkdirSync(join(folder, 'ops'), { recursive: true });
  cpSync(join(ROOT, 'ops/make-secrets.sh'), join(folder, 'ops/make-secrets.sh'));
  // Without a name the script never reads stdin, and writing to it could fail.
  const input = args.length > 0 ? 'THE-KEY' : '';
  execFileSync('sh', ['ops/make-secrets.sh', ...args], { cwd: folder, input, stdio: 'pipe' });
  return folder;
}

it('every image has an exact version, never "latest" or a major version alone, which would change unnoticed', () => {
  const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image = '']) => image);
  const images = [...services.map(({ image }) => image), ...bases].filter((image) => !isOurs(image));
  expect(images.length).toBeGreaterThan(7);
  for (const image of images) expect(image).toMatch(/:v?\d+\.\d+(\.\d+)?(-[a-z-]+)?(@sha256:[\da-f]{64})?$/);
});

it('no port is reachable from other machines, and every mounted file exists', () => {
  for (const port of services.flatMap(({ ports = [] }) => ports)) expect(port).toMatch(/^127\.0\.0\.1:/);
  const mounted = services.flatMap(({ volumes = [] }) => volumes.filter((volume) => volume.startsWith('./')));
  expect(mounted.length).toBeGreaterThan(5);
  for (const volume of mounted) expect([volume, existsSync(join(ROOT, volume.split(':')[0]!))]).toEqual([volume, true]);
});

it("containers of the project's image have a read-only file system and no capabilities", () => {
  const ours = services.filter(({ image }) => isOurs(image));
  expect(ours.length).toBeGreaterThan(3);
  for (const service of ours) expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
});

it('`npx fulfilment`, which messages tell you to run, works in the image without a writable folder', () => {
  const app = temporaryFolder();
  cpSync(join(ROOT, 'package.json'), join(app, 'package.json'));
  for (const folder of ['dist', 'node_modules/.bin']) mkdirSync(join(app, folder), { recursive: true });
  const script = "#!/usr/bin/env node\nconsole.log('it runs', ...process.argv.slice(2));\n";
  writeFileSync(join(app, 'dist/starter.js'), script, { mode: 0o755 });
  const [, command = ''] = /^RUN (npm pkg delete .*)$/m.exec(dockerfile) ?? [];
  execFileSync('sh', ['-c', command], { cwd: app, stdio: 'pipe' });

  const env = { PATH: process.env.PATH, HOME: '/dev/null', npm_config_update_notifier: 'false' };
  const options = { cwd: app, env, encoding: 'utf8', stdio: 'pipe' } as const;
  expect(execFileSync('npx', ['fulfilment', 'list', '--json'], options)).toBe('it runs list --json\n');
});

it.each([
  ['the sandbox', {}],
  ['the partner', partner.services.worker!.environment!],
])('the worker of %s accepts its configuration with an unchanged copy of .env.example', (_, changed) => {
  const secrets = join(makeSecrets(), 'secrets');
  writeFileSync(join(secrets, 'partner-api-key'), 'THE-KEY');
  const copied = { PARTNER_BASE_URL: '', PARTNER_API_KEY: '', FINGERPRINT_SECRET: '' };
  const filledIn = (value: string) =>
    value
      .replace('/run/secrets', secrets)
      .replace(/\$\{\w+_URL:.*\}/, 'https://one.example')
      .replace(/\$\{.*\}/, '');
  const named = Object.entries({ ...copied, ...sandbox.services.worker!.environment, ...changed });
  const written = named.map(([name, value]) => [name, filledIn(value)]);
  const config = readWorkerConfig(Object.fromEntries(written) as Record<string, string>);
  expect(config.delivery.kind).toBe('webhook');
  const grace = Number.parseInt(sandbox.services.worker!.stop_grace_period!, 10) * 1_000;
  expect(grace).toBeGreaterThan(shutdownOptions(config.purchase).shutdownForceTime as number);
});

it('secrets reach only the worker and the checkout, which has its own to verify events', () => {
  const given = Object.entries(sandbox.services).filter(([, { image, env_file, secrets }]) => {
    return isOurs(image) && (env_file !== undefined || secrets !== undefined);
  });
  expect(given.map(([name]) => name)).toEqual(['worker', 'checkout']);
  for (const name of ['setup', 'first-purchase'])
    expect(Object.keys(sandbox.services[name]?.environment ?? {}).filter((one) => /KEY|SECRET/.test(one))).toEqual([]);
});

it("Temporal's HTTP API is never published, because any web page open in a local browser could start a purchase with it", () => {
  const published = services.flatMap(({ ports = [] }) => ports.map((port) => port.split(':').at(-1)));
  expect(published).toContain('7233');
  expect(published).not.toContain('7243');
});

it('keys are sent in plain text only within the sandbox stack, or if .env allows it', () => {
  expect(sandbox.services.worker?.environment?.ALLOW_PLAINTEXT).toBe('true');
  expect(partner.services.worker?.environment?.ALLOW_PLAINTEXT).toBe('${ALLOW_PLAINTEXT:-false}');
});

it('the stack for the real partner is a separate project, so that its worker never meets the sandbox', () => {
  expect(partner.name).not.toBe(sandbox.name);
  for (const name of ['sandbox', 'checkout', 'first-purchase'])
    expect(partner.services[name]).toEqual({ profiles: ['sandbox'] });
});

describe('ops/make-secrets.sh', () => {
  it('makes secrets that the worker accepts, in a private folder, and never replaces existing ones', () => {
    const folder = makeSecrets();
    expect(statSync(join(folder, 'secrets')).mode & 0o777).toBe(0o700);
    for (const name of ['fingerprint', 'delivery'])
      expect(statSync(join(folder, 'secrets', name)).mode & 0o777).toBe(0o644);
    expect(readFileSync(join(folder, 'secrets/delivery'), 'utf8')).toMatch(/^whsec_[\w+/]{43}=$/);
    const fingerprint = () => readFileSync(join(folder, 'secrets/fingerprint'), 'utf8');
    expect(fingerprint()).toMatch(/^[0-9a-f]{64}$/);
    // With a new secret, existing key ids would no longer match.
    const before = fingerprint();
    makeSecrets(folder);
    expect(fingerprint()).toBe(before);
  });

  it('writes a secret from stdin in place, because a container keeps the file that it mounted', () => {
    const folder = makeSecrets();
    linkSync(join(folder, 'secrets/delivery'), join(folder, 'mounted'));
    makeSecrets(folder, 'delivery');
    expect(readFileSync(join(folder, 'mounted'), 'utf8')).toBe('THE-KEY');
  });

  it('can rotate a secret by a command that reads the file it writes, and never writes an empty secret', () => {
    const folder = makeSecrets();
    const fingerprint = () => readFileSync(join(folder, 'secrets/fingerprint'), 'utf8');
    const shell = (command: string) => execFileSync('sh', ['-c', command], { cwd: folder, stdio: 'pipe' });
    const before = fingerprint();
    // The command may read the file late on a busy machine.
    shell('{ sleep 0.3; echo "new $(cat secrets/fingerprint)"; } | sh ops/make-secrets.sh fingerprint');
    expect(fingerprint()).toBe(`new ${before}`);

    expect(() => shell(': | sh ops/make-secrets.sh fingerprint')).toThrow('nothing came on stdin');
    expect(fingerprint()).toBe(`new ${before}`);
  });
});
