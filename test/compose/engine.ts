import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { closeAtEnd, temporaryFolder } from '../support/clean-up';
import { waitUntil } from '../support/wait-until';

/** `docker` or `podman`, found by scripts/compose.mjs. */
export const ENGINE = process.env.TEST_CONTAINER_ENGINE ?? '';
/** The command of Docker Compose. */
const COMPOSE = JSON.parse(process.env.TEST_COMPOSE ?? '[]') as string[];

/** Without systemd, Podman can't use its defaults for cgroups, event log and health checks. */
const LACKS_SYSTEMD = ENGINE === 'podman' && !existsSync('/run/systemd/system');
const ENGINE_ENV: Env = LACKS_SYSTEMD ? { CONTAINERS_CONF: join(__dirname, 'containers.conf') } : {};

type Env = Readonly<Record<string, string>>;

export interface Ended {
  code: number | null;
  stdout: string;
  /** Both streams, in the order of arrival. */
  output: string;
}

export interface RunOptions {
  cwd?: string;
  /** Added to the environment of this process. */
  env?: Env;
}

/**
 * Runs a program to its end.
 *
 * @returns its stdout
 * @throws Error with its whole output if it fails
 */
export async function run(command: readonly string[], options: RunOptions = {}): Promise<string> {
  const { code, stdout, output } = await tryRun(command, options);
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}:\n${output}`);
  return stdout.trim();
}

export async function tryRun([program = '', ...args]: readonly string[], options: RunOptions = {}): Promise<Ended> {
  const env = Object.assign({}, process.env, ENGINE_ENV, options.env);
  const child = spawn(program, args, { cwd: options.cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended: Ended = { code: null, stdout: '', output: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    ended.stdout += text;
    ended.output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => (ended.output += text));
  ended.code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  return ended;
}

interface ContainerState {
  ID: string;
  State: string;
  ExitCode: number;
}

export type Project = Awaited<ReturnType<typeof openProject>>;

/**
 * A compose project.
 *
 * @param env variables that docker-compose.yml reads
 */
export async function openProject(name: string, folder: string, env: Env) {
  const options = { cwd: folder, env: Object.assign({}, env, ENGINE === 'podman' ? await startPodmanService() : {}) };
  const command = (...args: string[]) => [...COMPOSE, '--project-name', name, ...args];
  return {
    /**
     * Runs `docker compose ARGS` in its folder.
     *
     * @returns its stdout
     */
    compose: (...args: string[]) => run(command(...args), options),
    /** Runs a command in the container of a service. */
    exec: (service: string, ...args: string[]) => tryRun(command('exec', '--no-TTY', service, ...args), options),
    async state(service: string) {
      const [line = ''] = (await run(command('ps', '--all', '--format', 'json', service), options)).split('\n');
      if (line === '') throw new Error(`there is no container of the service ${service}`);
      return JSON.parse(line) as ContainerState;
    },
    /** The output of all present containers of a service. */
    logs: (...services: string[]) => run(command('logs', '--no-log-prefix', ...services), options),
  };
}

/** Docker Compose talks to Podman through a socket. Without systemd, this process has to run the health checks. */
async function startPodmanService(): Promise<Env> {
  const socket = join(temporaryFolder(), 'podman.sock');
  const env = Object.assign({}, process.env, ENGINE_ENV);
  const service = spawn('podman', ['system', 'service', '--time', '0', `unix://${socket}`], { env, stdio: 'ignore' });
  const exited = new Promise((resolve) => service.once('exit', resolve));
  closeAtEnd(() => {
    service.kill();
    return exited;
  });
  await waitUntil('Podman has its socket', () => existsSync(socket));
  if (LACKS_SYSTEMD) checkHealth();
  // Podman offers only the classic builder.
  return { DOCKER_HOST: `unix://${socket}`, DOCKER_BUILDKIT: '0' };
}

function checkHealth(): void {
  const stop = new AbortController();
  const checks = (async () => {
    while (!stop.signal.aborted) {
      const containers = (await run(['podman', 'ps', '--quiet'])).split('\n');
      for (const container of containers) await tryRun(['podman', 'healthcheck', 'run', container]);
      await sleep(2_000, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  })();
  closeAtEnd(() => {
    stop.abort();
    return checks;
  });
}
