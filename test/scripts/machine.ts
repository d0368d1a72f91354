import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { closeAtEnd } from '../support/clean-up';
import { type ProcessEnv, startProcess } from '../support/processes';

const scripts = join(__dirname, '..', '..', 'scripts');

export type Machine = Awaited<ReturnType<typeof freshMachine>>;

/** A simulated machine until the end of the test file: an empty cache, only fakes on the PATH, and no network. */
export async function freshMachine() {
  const dir = await mkdtemp(join(tmpdir(), 'fresh machine-'));
  closeAtEnd(() => rm(dir, { recursive: true, force: true }));
  const bin = join(dir, 'bin');
  const cache = join(dir, 'cache');
  await mkdir(bin);
  return {
    /** Contains a space, so that every test covers paths with spaces. */
    dir,
    cache,
    /** Puts a shell script on the PATH; `$0`, `$@` and the usual tools work in it. Returns its path. */
    fake: (name: string, script: string) => writeExecutable(join(bin, name), script),
    unfake: (name: string) => rm(join(bin, name)),
    /** Runs an exported function of `scripts/lib/` in a separate process, which prints the result. */
    call: (module: string, fn: string, { args = [], env = {} }: { args?: unknown[]; env?: ProcessEnv } = {}) => {
      const code = `const { ${fn}: fn } = await import(${JSON.stringify(urlOf(module))}); ${RUN}`;
      // Nothing listens on the proxy's port, so the tests never reach the internet.
      const offline = { HTTPS_PROXY: 'http://127.0.0.1:1' };
      const own = { PATH: bin, HOME: dir, FULFILMENT_CACHE_DIR: cache, ...offline, ARGS: JSON.stringify(args) };
      return startProcess('-e', [code], { env: { ...own, ...env }, nodeArgs: ['--input-type=module'] });
    },
    /** The lines of a file written by fakes; empty if it does not exist. */
    lines: async (file: string) => {
      const path = join(dir, file);
      return existsSync(path) ? (await readFile(path, 'utf8')).trim().split('\n') : [];
    },
  };
}

/** Writes an executable shell script and returns its path. */
export async function writeExecutable(path: string, script: string): Promise<string> {
  await writeFile(path, `#!/bin/sh\nPATH=/usr/bin:/bin\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}

const RUN = `
  try { process.stdout.write(JSON.stringify((await fn(...JSON.parse(process.env.ARGS))) ?? null)); }
  catch (error) { process.stderr.write(error.message); process.exitCode = 1; }`;

function urlOf(module: string): string {
  return pathToFileURL(join(scripts, 'lib', module)).href;
}
