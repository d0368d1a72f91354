import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { closeAtEnd, temporaryFolder } from '../support/clean-up';
import { freePort } from '../support/dev-server';
import { waitUntil } from '../support/wait-until';
import { composeProject, type Project, run } from './engine';
import { ensureImages, removeNames } from './images';

/*
 * The whole of docker-compose.yml, brought up by a real container engine from a fresh copy of the project: `npm run test:compose`.
 * Each test goes on where the one before it has ended.
 */

const ROOT = join(__dirname, '../..');
const PROJECT = 'fulfilment-compose-test';
const MINUTE = 60_000;
const PORTS = [
  'TEMPORAL_PORT',
  'TEMPORAL_HTTP_PORT',
  'TEMPORAL_UI_PORT',
  'SANDBOX_PORT',
  'PROMETHEUS_PORT',
  'GRAFANA_PORT',
] as const;

let project: Project;
let folder: string;
const env = {} as Record<(typeof PORTS)[number], string>;

const starter = (...args: string[]) => project.exec('worker', 'node', 'dist/starter.js', ...args);
const get = async (port: (typeof PORTS)[number], path: string) =>
  (await fetch(`http://127.0.0.1:${env[port]}${path}`)).text();
const ended = (service: string) =>
  waitUntil(`${service} has ended`, async () => !(await project.inspect(service)).running, { everyMs: 500, ms: 5 * MINUTE });

/** What git would clone, with what has not been committed yet. */
async function copyOfProject(): Promise<string> {
  const copy = temporaryFolder();
  const files = await run(['git', 'ls-files', '--cached', '--others', '--exclude-standard'], { cwd: ROOT });
  for (const file of files.split('\n')) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(ROOT, file), join(copy, file));
  }
  return copy;
}

beforeAll(async () => {
  folder = await copyOfProject();
  for (const name of PORTS) env[name] = String(await freePort());
  project = composeProject(PROJECT, folder, env);
  const standIns = await ensureImages();
  closeAtEnd(() => removeNames(standIns));
}, 60 * MINUTE);

afterAll(() => project.compose('down', '--volumes', '--timeout', '20'), 5 * MINUTE);

it(
  'one command for the secrets, and everything comes up to a purchase that was delivered',
  async () => {
    await run(['sh', 'ops/make-secrets.sh'], { cwd: folder });
    writeFileSync(join(folder, '.env'), 'PURCHASE_REPLACE=never\n');
    await project.compose('build');
    await project.compose('up', '--detach');
    await ended('first-purchase');
    expect(await project.logs('first-purchase')).toContain('DELIVERED');
    expect((await project.inspect('first-purchase')).exitCode).toBe(0);
    expect(await project.logs('checkout')).toContain('purchase.delivered FIRST-1, 2 keys');
  },
  30 * MINUTE,
);
