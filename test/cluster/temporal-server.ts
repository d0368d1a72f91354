import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '../support/clean-up';
import { freePort } from '../support/free-port';
import type { PostgreSqlAccess } from './postgresql';

const run = promisify(execFile);
const MINUTE = 60_000;
const ROOT = join(__dirname, '../..');
const OPS = join(ROOT, 'ops/temporal');

export interface ServerOptions {
  port: number;
  httpPort?: number;
  /** A server that is restarted under the same name keeps its databases. */
  name?: string;
  /** False leaves out the search attributes. */
  setUp?: boolean;
  /** Dynamic configuration in addition to that of `ops/temporal`: `KEY=VALUE`. */
  config?: readonly string[];
}

/** What a restarted server keeps: the names of its databases, and its ports. */
type Identity = Record<string, string>;

const identities = new Map<string, Identity>();

/**
 * Starts a Temporal server with the configuration of `ops/temporal`. The scripts and the command used in production
 * create its databases before the first start, and the namespace and search attributes after it. A server that ends
 * before that is returned anyway.
 */
export async function spawnTemporalServer(postgresql: PostgreSqlAccess, options: ServerOptions): Promise<ChildProcess> {
  const { port, httpPort, name = randomUUID(), setUp = true, config = [] } = options;
  const known = identities.get(name);
  const identity = known ?? (await newIdentity());
  identities.set(name, identity);
  const ports = {
    FRONTEND_GRPC_PORT: String(port),
    FRONTEND_HTTP_PORT: String(httpPort ?? identity.FRONTEND_HTTP_PORT),
  };
  const env = { ...identity, ...ports, ...variablesOf(postgresql) };
  if (known) return start(env, config);

  const tools = await folderWithTools();
  // A home folder without personal settings for Temporal's CLI.
  const path = { PATH: `${tools}:${process.env.PATH}`, HOME: tools, TEMPORAL_ADDRESS: `127.0.0.1:${port}` };
  await run(join(OPS, 'set-up-schema.sh'), { env: { ...env, ...path }, timeout: MINUTE });
  const server = await start(env, config);
  const ended = new AbortController();
  server.once('exit', () => ended.abort());
  const whileItRuns = { env: path, signal: ended.signal, timeout: MINUTE };
  try {
    await run(join(OPS, 'create-namespace.sh'), whileItRuns);
    if (setUp) await run(process.execPath, [join(ROOT, 'dist/starter.js'), 'setup'], whileItRuns);
  } catch (error) {
    if (!ended.signal.aborted) throw error;
  }
  return server;
}

/** Names and ports that no other test server uses. */
async function newIdentity(): Promise<Identity> {
  const suffix = randomUUID().replaceAll('-', '').slice(0, 12);
  const identity: Identity = { DBNAME: `temporal_${suffix}`, VISIBILITY_DBNAME: `visibility_${suffix}` };
  identity.FRONTEND_HTTP_PORT = String(await freePort());
  for (const service of ['HISTORY', 'MATCHING', 'WORKER']) identity[`${service}_GRPC_PORT`] = String(await freePort());
  for (const service of ['FRONTEND', 'HISTORY', 'MATCHING', 'WORKER'])
    identity[`${service}_MEMBERSHIP_PORT`] = String(await freeMembershipPort());
  return identity;
}

/** Below 32,768: the server stores it in a signed 16-bit column, and exits at once with a higher one (measured). */
async function freeMembershipPort(): Promise<number> {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 22_000);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const isOpen = new Promise<boolean>((resolve) =>
    server.once('error', () => resolve(false)).once('listening', () => resolve(true)),
  );
  server.listen(port, '127.0.0.1');
  if (!(await isOpen)) return false;
  await new Promise((resolve) => server.close(resolve));
  return true;
}

function variablesOf({ port, passwordFile }: PostgreSqlAccess): Record<string, string> {
  return { POSTGRES_SEEDS: '127.0.0.1', DB_PORT: String(port), POSTGRES_PWD_FILE: passwordFile };
}

async function start(env: Record<string, string>, config: readonly string[]): Promise<ChildProcess> {
  const files = {
    TEMPORAL_SERVER_CONFIG_FILE_PATH: join(OPS, 'server.yaml'),
    DYNAMIC_CONFIG_FILE_PATH: await dynamicConfigWith(config),
  };
  const server = spawn(requiredPath('TEMPORAL_SERVER'), ['start'], {
    env: { PATH: process.env.PATH, LOG_LEVEL: 'error', ...env, ...files },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  // Only the reason for the failed start helps a test.
  server.stdout?.setEncoding('utf8').on('data', (text: string) => {
    for (const line of text.split('\n'))
      if (line.includes('"level":"fatal"')) process.stderr.write(`${line.slice(0, 500)}\n`);
  });
  return server;
}

/** A file with the dynamic configuration of `ops/temporal` and the settings that it lacks. */
async function dynamicConfigWith(values: readonly string[]): Promise<string> {
  const path = join(OPS, 'dynamic-config.yaml');
  const usual = await readFile(path, 'utf8');
  const entries = values.map((one) => one.replace(/^([^=]+)=(.*)$/s, '$1:\n  - value: $2\n'));
  const lacking = entries.filter((entry) => !usual.includes(entry));
  if (lacking.length === 0) return path;
  const longer = join(temporaryFolder(), 'dynamic-config.yaml');
  await writeFile(longer, [usual, ...lacking].join('\n'));
  return longer;
}

/** A folder with the tools that the scripts call, under the names that the scripts use. */
async function folderWithTools(): Promise<string> {
  const folder = temporaryFolder();
  await symlink(requiredPath('TEMPORAL_CLI'), join(folder, 'temporal'));
  await symlink(join(dirname(requiredPath('TEMPORAL_SERVER')), 'temporal-sql-tool'), join(folder, 'temporal-sql-tool'));
  return folder;
}

function requiredPath(name: string): string {
  const path = process.env[name];
  if (!path) throw new Error(`${name} is not set: run it with npm run test:cluster`);
  return path;
}
