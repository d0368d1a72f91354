import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';

const DIST = join(__dirname, '../../../dist');

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** A process of ours with what it has said so far. */
export interface RunningProcess {
  child: ChildProcess;
  ended: Promise<Ended>;
  /** Resolves as soon as stdout or stderr holds the text; rejects if the process ends without having said it. */
  said(text: string): Promise<void>;
}

/** Starts `node dist/NAME.js` with this environment and nothing of the suite's own. */
export function startProcess(
  name: 'starter' | 'worker',
  args: readonly string[],
  env: Record<string, string>,
): RunningProcess {
  const child = spawn(process.execPath, [join(DIST, `${name}.js`), ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  let onText = (): void => undefined;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    onText();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    onText();
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  const said = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      onText = () => void ((stdout.includes(text) || stderr.includes(text)) && resolve());
      onText();
      void ended.then(() => reject(new Error(`it ended without saying "${text}":\n${stdout}\n${stderr}`)));
    });
  return { child, ended, said };
}

/** Runs `node dist/starter.js ARGS` to its end. */
export function starterProcess(args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  return startProcess('starter', args, env).ended;
}
