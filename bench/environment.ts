import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type RunningProgram, startProgram } from './processes';
import { type Receiver, startReceiver } from './receiver';
import { type SandboxProcess, startSandboxProcess } from './sandbox';
import type { Polling, Side } from './sides';
import { startTemporal, type TemporalProcess } from './temporal';

/** What one side runs in. Each round gets a new environment, so that nothing is left over from an earlier round. */
export interface Environment {
  temporal: TemporalProcess;
  sandbox: SandboxProcess;
  receiver: Receiver;
  startWorker(polling: Polling): Promise<StartedWorker>;
}

export interface StartedWorker extends RunningProgram {
  /** From the start of the process until it reported that it is ready, ms. */
  readyAfterMs: number;
}

/** The end of the worker's start-up, such as its first request to the partner, must not count towards a purchase. */
const SETTLE_MS = 500;

/**
 * Starts the servers, does the work, and stops everything, even if the work fails.
 *
 * @param speed of the sandbox's clock
 */
export async function withEnvironment<T>(
  cli: string,
  side: Side,
  speed: number,
  work: (environment: Environment) => Promise<T>,
): Promise<T> {
  const closers: (() => Promise<unknown>)[] = [];
  try {
    const folder = temporaryFolder();
    closers.push(async () => removeFolder(folder));
    const temporal = await startTemporal(cli, folder);
    closers.push(() => temporal.stop());
    const sandbox = await startSandboxProcess(speed);
    closers.push(() => sandbox.stop());
    const receiver = await startReceiver();
    closers.push(() => receiver.close());
    const addresses = { temporal: temporal.address, partner: sandbox.url, checkout: receiver.url, folder };
    const startWorker = async (polling: Polling) => {
      const program = startProgram(process.execPath, [side.script], side.workerEnv(addresses, polling));
      closers.push(() => program.stop('SIGKILL'));
      const readyAfterMs = await program.untilWritten('worker ready');
      await setTimeout(SETTLE_MS);
      return Object.assign(program, { readyAfterMs });
    };
    return await work({ temporal, sandbox, receiver, startWorker });
  } finally {
    for (const close of closers.toReversed()) await close();
  }
}

const folders = new Set<string>();
process.on('exit', () => folders.forEach(removeFolder));

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'fulfilment-bench-'));
  folders.add(folder);
  return folder;
}

function removeFolder(folder: string): void {
  // A server that was killed a moment ago may still be writing to it.
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  folders.delete(folder);
}
