import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { PurchaseSettings } from '../../src/contracts/purchase';
import { TEST_FINGERPRINT_SECRET, TEST_SIGNING_SECRET, type World } from './world';

const WORKER = join(__dirname, '../../dist/worker.js');
const LOG_CHARS = 200_000;

/** A real worker process, as production runs it. */
export interface WorkerProcess {
  pid: number;
  /** The end of what it logged. */
  log(): string;
  /** Sends a signal and waits for nothing: SIGSTOP, SIGCONT. */
  signal(signal: NodeJS.Signals): void;
  /** Ends it, frozen or not, and waits until it has ended. @returns its exit code, null if a signal ended it */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null>;
}

/** A variable that is undefined is left out. */
export type Environment = Record<string, string | undefined>;

const alive = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
});

/**
 * Starts `node dist/worker.js` for a world and waits until it says that it is ready.
 *
 * @param env on top of what follows from the world's settings.
 * @throws Error with what it logged when it ends before that.
 */
export async function startWorkerProcess(world: World, address: string, env: Environment = {}): Promise<WorkerProcess> {
  const child = spawn(process.execPath, [WORKER], {
    env: { ...environmentOf(world, address), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  alive.add(child);
  let log = '';
  const keep = (chunk: Buffer) => void (log = (log + String(chunk)).slice(-LOG_CHARS));
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const exited = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => {
      alive.delete(child);
      resolve(code);
    });
  });
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', () => log.includes('worker ready') && resolve());
    child.once('exit', (code) => reject(new Error(`the worker ended with ${code} before it was ready:\n${log}`)));
  });
  return {
    pid: child.pid!,
    log: () => log,
    signal: (signal) => void child.kill(signal),
    end: (signal) => {
      child.kill(signal);
      return exited;
    },
  };
}

function environmentOf({ settings, sandbox, receiver, taskQueue }: World, address: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    TEMPORAL_ADDRESS: address,
    TEMPORAL_TASK_QUEUE: taskQueue,
    PARTNER_BASE_URL: sandbox.url,
    PARTNER_API_KEY: 'sandbox-key',
    ...purchaseEnvironment(settings),
    FINGERPRINT_SECRET: TEST_FINGERPRINT_SECRET,
    DELIVERY_URL: receiver.url,
    DELIVERY_SECRET: TEST_SIGNING_SECRET,
    HEALTH_ADDRESS: '127.0.0.1:0',
    METRICS_ADDRESS: '127.0.0.1:0',
  };
}

function purchaseEnvironment(settings: PurchaseSettings): NodeJS.ProcessEnv {
  return {
    PARTNER_TIMEOUT: `${settings.partnerTimeoutMs}ms`,
    DELIVERY_TIMEOUT: `${settings.deliveryTimeoutMs}ms`,
    PURCHASE_PLACE_WITHIN: `${settings.placeWithinMs}ms`,
    PURCHASE_FIRST_POLL: `${settings.firstPollMs}ms`,
    PURCHASE_POLL_INTERVAL: `${settings.pollIntervalMs}ms`,
    PURCHASE_DEADLINE: `${settings.deadlineMs}ms`,
    PURCHASE_SETTLE: `${settings.settleMs}ms`,
    PURCHASE_REPLACE: settings.replace,
  };
}
