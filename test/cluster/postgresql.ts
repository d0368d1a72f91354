import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { closeAtEnd } from '../support/clean-up';
import { freePort } from '../support/free-port';

const run = promisify(execFile);

/** The user `nobody` on every Linux. PostgreSQL refuses to run as root. */
const NOBODY = 65_534;
const UNPRIVILEGED = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};

/** What a process needs to connect. Plain data, so that it can be passed to another process. */
export interface PostgreSqlAccess {
  port: number;
  passwordFile: string;
}

export type PostgreSql = Awaited<ReturnType<typeof startPostgreSql>>;

/**
 * Starts a new PostgreSQL on a free port, with a superuser `temporal` like the official image. It accepts connections a
 * moment later, and confirms a write only once it is on disk.
 *
 * @param settings `name=value`, where they differ from PostgreSQL's defaults
 * @throws Error when POSTGRES_BIN is not a folder with its programs
 */
export async function startPostgreSql(settings: readonly string[] = []) {
  const folder = await mkdtemp(join(tmpdir(), 'fulfilment-postgresql-'));
  await chmod(folder, 0o755);
  const bin = await executableFolder(folder);
  const [data, passwordFile, port] = [join(folder, 'data'), join(folder, 'password'), await freePort()];
  await writeFile(passwordFile, 'not-a-secret', { mode: 0o644 });
  if (UNPRIVILEGED.uid) await chown(folder, UNPRIVILEGED.uid, UNPRIVILEGED.gid);
  const made = ['-D', data, '-U', 'temporal', `--pwfile=${passwordFile}`, '-A', 'scram-sha-256', '-E', 'UTF8'];
  await run(join(bin, 'initdb'), [...made, '--no-locale'], { cwd: folder, ...UNPRIVILEGED });

  const own = ['listen_addresses=127.0.0.1', `port=${port}`, `unix_socket_directories=${folder}`, ...settings];
  const args = ['-D', data, ...own.flatMap((setting) => ['-c', setting])];
  const spawned = () => spawn(join(bin, 'postgres'), args, { cwd: folder, stdio: 'ignore', ...UNPRIVILEGED });
  let running = spawned();
  /** SIGINT stops it like a service manager; SIGQUIT stops it like a power cut, and it recovers at its next start. */
  const stop = async (signal: 'SIGINT' | 'SIGQUIT') => {
    if (running.exitCode !== null || running.signalCode !== null) return;
    const ended = once(running, 'exit');
    running.kill(signal);
    await ended;
  };
  /** Stops it and removes its data. */
  const remove = closeAtEnd(async () => {
    await stop('SIGQUIT');
    await rm(folder, { recursive: true, force: true });
  });
  /** It accepts connections a moment later. */
  const start = () => void (running = spawned());
  return { port, passwordFile, start, stop, remove };
}

/** From now on, tests start production servers on this PostgreSQL. */
export function useForServers({ port, passwordFile }: PostgreSqlAccess): void {
  process.env.TEST_POSTGRESQL = JSON.stringify({ port, passwordFile });
}

/** The folder with its programs, or a copy if an unprivileged user can't read it. */
async function executableFolder(folder: string): Promise<string> {
  const bin = process.env.POSTGRES_BIN;
  if (!bin) throw new Error('POSTGRES_BIN is not set: run it with npm run test:cluster');
  const runs = await run(join(bin, 'postgres'), ['--version'], UNPRIVILEGED).then(
    () => true,
    () => false,
  );
  if (runs) return bin;
  await cp(resolve(bin, '..'), join(folder, 'postgresql'), { recursive: true, verbatimSymlinks: true });
  return join(folder, 'postgresql', 'bin');
}
