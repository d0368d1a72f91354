import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

export interface Ended {
  code: number | null;
  stdout: string;
  /** Both streams as they came. */
  output: string;
}

export interface RunOptions {
  cwd?: string;
  env?: Readonly<Record<string, string>>;
  input?: string;
}

/** Runs a program to its end. @throws Error with what it wrote, when it ends with another code than 0 */
export async function run(command: readonly string[], options: RunOptions = {}): Promise<string> {
  const { code, stdout, output } = await tryRun(command, options);
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}:\n${output}`);
  return stdout.trim();
}

export async function tryRun([program = '', ...args]: readonly string[], options: RunOptions = {}): Promise<Ended> {
  const { cwd, env, input = '' } = options;
  const child = spawn(program, args, { cwd, env: { ...process.env, ...ENGINE_ENV, ...env } });
  const ended: Ended = { code: null, stdout: '', output: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    ended.stdout += text;
    ended.output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => (ended.output += text));
  child.stdin.on('error', () => undefined).end(input);
  ended.code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  return ended;
}

/** `docker` or `podman`, and the command of its compose: scripts/compose.mjs finds them. */
export const ENGINE = process.env.TEST_CONTAINER_ENGINE ?? '';
export const COMPOSE = JSON.parse(process.env.TEST_COMPOSE ?? '[]') as string[];

/** What Podman leaves to systemd, where there is none: cgroups, the log of events, limits that nobody may raise. */
const ENGINE_ENV: Record<string, string> =
  ENGINE === 'podman' && !existsSync('/run/systemd/system')
    ? { CONTAINERS_CONF: join(__dirname, 'containers.conf') }
    : {};

/** One service, or all, of a compose project that runs. */
export interface Project {
  /** `compose ARGS`, in the folder of the project. */
  compose(...args: string[]): Promise<string>;
  /** A command in the running container of a service. */
  exec(service: string, ...command: string[]): Promise<string>;
  tryExec(service: string, ...command: string[]): Promise<Ended>;
  /** What `inspect` says of a service's container. */
  inspect(service: string): Promise<ContainerState>;
  logs(service: string): Promise<string>;
}

interface ContainerState {
  id: string;
  running: boolean;
  exitCode: number;
}

export function composeProject(name: string, folder: string, env: Readonly<Record<string, string>>): Project {
  const options = { cwd: folder, env };
  const container = async (service: string) => {
    const labels = { project: name, service };
    const filters = Object.entries(labels).flatMap(([key, value]) => [
      '--filter',
      `label=com.docker.compose.${key}=${value}`,
    ]);
    const ids = await run([ENGINE, 'ps', '--all', '--quiet', ...filters], options);
    if (!ids) throw new Error(`there is no container of the service ${service}`);
    return ids.split('\n')[0]!;
  };
  const tryExec = async (service: string, ...command: string[]) =>
    tryRun([ENGINE, 'exec', await container(service), ...command], options);
  return {
    compose: (...args) => run([...COMPOSE, '--project-name', name, ...args], options),
    tryExec,
    async exec(service, ...command) {
      const { code, stdout, output } = await tryExec(service, ...command);
      if (code !== 0) throw new Error(`${command.join(' ')} in ${service} ended with ${code}:\n${output}`);
      return stdout.trim();
    },
    async inspect(service) {
      const [found] = JSON.parse(await run([ENGINE, 'inspect', await container(service)])) as [
        { Id: string; State: { Running: boolean; ExitCode: number } },
      ];
      return { id: found.Id, running: found.State.Running, exitCode: found.State.ExitCode };
    },
    logs: async (service) => (await tryRun([ENGINE, 'logs', await container(service)])).output,
  };
}
