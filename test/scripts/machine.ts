import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const scripts = join(__dirname, '..', '..', 'scripts');

/** What a process printed, and how it ended. */
interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A process that still runs. */
interface Running {
  readonly ended: Promise<Ended>;
  /** Settles when stderr shows `text`, or fails when the process ends without it. */
  said(text: string): Promise<void>;
  kill(signal: NodeJS.Signals): void;
}

/** A machine of one's own: an empty cache, a PATH with nothing on it but the fakes, and no network. */
export interface Machine {
  /** Has a blank in its path, so that every test shows that blanks do no harm. */
  readonly dir: string;
  readonly cache: string;
  /** Puts a shell script on this machine's PATH; `$0`, `$@` and the usual tools work in it. Returns its path. */
  fake(name: string, script: string): Promise<string>;
  unfake(name: string): Promise<void>;
  /** Runs an exported function of `scripts/lib/` in a process of its own; stdout is what it returned. */
  call(module: string, fn: string, options?: CallOptions): Running;
  /** The lines of a file that fakes write into; none when there is no such file. */
  lines(file: string): Promise<string[]>;
  dispose(): Promise<void>;
}

interface CallOptions {
  readonly args?: readonly unknown[];
  readonly env?: Readonly<Record<string, string>>;
}

export async function freshMachine(): Promise<Machine> {
  const dir = await mkdtemp(join(tmpdir(), 'fresh machine-'));
  const bin = join(dir, 'bin');
  const cache = join(dir, 'cache');
  const started: Running[] = [];
  await mkdir(bin);
  return {
    dir,
    cache,
    fake: (name, script) => writeExecutable(join(bin, name), script),
    unfake: (name) => rm(join(bin, name)),
    call: (module, fn, { args = [], env = {} } = {}) => {
      const code = `const { ${fn}: fn } = await import(${JSON.stringify(urlOf(module))}); ${RUN}`;
      // Nothing listens at the proxy's port, so that a machine with internet tests the same as one without.
      const offline = { HTTPS_PROXY: 'http://127.0.0.1:1' };
      const own = { PATH: bin, HOME: dir, FULFILMENT_CACHE_DIR: cache, ...offline, ARGS: JSON.stringify(args) };
      const running = start(code, { ...own, ...env });
      started.push(running);
      return running;
    },
    lines: async (file) => {
      const path = join(dir, file);
      return existsSync(path) ? (await readFile(path, 'utf8')).trim().split('\n') : [];
    },
    dispose: async () => {
      // A test that failed may have left its processes waiting.
      for (const running of started) running.kill('SIGTERM');
      await Promise.all(started.map((running) => running.ended));
      await rm(dir, { recursive: true, force: true });
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

function start(code: string, env: Record<string, string>): Running {
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  let onText = (): void => undefined;
  child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text;
    onText();
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
  const said = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      onText = () => void (stderr.includes(text) && resolve());
      onText();
      void ended.then(() => reject(new Error(`it ended without saying "${text}":\n${stderr}`)));
    });
  return { ended, said, kill: (signal) => void child.kill(signal) };
}
