import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { closeAtEnd } from '../support/clean-up';
import { freePort } from '../support/free-port';

const run = promisify(execFile);

/** Of the user `nobody`, on every Linux: PostgreSQL refuses to run as root. */
const NOBODY = 65_534;
const UNPRIVILEGED = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};

/** What a process needs to use it; plain data, so that one can hand it to another. */
export interface PostgreSqlAccess {
  port: number;
  passwordFile: string;
}

export type PostgreSql = Awaited<ReturnType<typeof startPostgreSql>>;

/**
 * Starts a PostgreSQL of one's own on a free port, with a superuser `temporal`, as the official image makes one. It confirms no
 * write that is not on the disk. It takes connections a moment later.
 *
 * @param settings where they differ from the defaults of PostgreSQL: `name=value`
 * @throws Error when POSTGRES_BIN names no folder with its programs
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
  /** SIGINT: as a service is stopped. SIGQUIT: at once, as when its machine loses power; it recovers as it starts. */
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
  /** It takes connections a moment later. */
  const start = () => void (running = spawned());
  return { port, passwordFile, start, stop, remove };
}

/** From now on the Temporal servers that tests start are of production, on this PostgreSQL. */
export function useForServers({ port, passwordFile }: PostgreSqlAccess): void {
  process.env.TEST_POSTGRESQL = JSON.stringify({ port, passwordFile });
}

/** The folder with its programs; a copy of it where root has it in a place that an unprivileged user may not read. */
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
