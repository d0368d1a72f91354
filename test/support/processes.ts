import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { closeAtEnd, temporaryFolder } from './clean-up';
import { freePort } from './free-port';
import { TEST_FINGERPRINT_SECRET, TEST_SIGNING_SECRET } from './settings';
import type { TestEnvironment } from './test-environment';
import { waitUntil } from './wait-until';

const DIST = join(__dirname, '../../dist');

/** Undefined variables are left out. */
export type ProcessEnv = Record<string, string | undefined>;

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export type RunningProcess = ReturnType<typeof startProcess>;

export interface ProcessOptions {
  env?: ProcessEnv;
  nodeArgs?: readonly string[];
  umask?: number;
  /** Default: an empty folder, so that no `.env` of a developer is loaded. */
  cwd?: string;
}

let emptyFolder: string | undefined;

const alive = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
});

/** Starts `node SCRIPT ARGS` with PATH and these variables only. It is killed at the end of the test file. */
export function startProcess(script: string, args: readonly string[], options: ProcessOptions = {}) {
  const { env, nodeArgs = [], umask, cwd = (emptyFolder ??= temporaryFolder()) } = options;
  const ownUmask = umask === undefined ? undefined : process.umask(umask);
  const child = spawn(process.execPath, [...nodeArgs, script, ...args], {
    cwd,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (ownUmask !== undefined) process.umask(ownUmask);
  alive.add(child);

  const written = { stdout: '', stderr: '', both: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      written[stream] += text;
      written.both += text;
    });
  }
  let hasEnded = false;
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      hasEnded = true;
      alive.delete(child);
      resolve({ code, signal, stdout: written.stdout, stderr: written.stderr });
    });
  });
  closeAtEnd(() => {
    child.kill('SIGKILL');
    return ended;
  });
  return {
    child,
    /** Everything written so far to stdout and stderr. */
    output: () => written.both,
    /** Waits until it has written this text. @throws Error with its output, at once if it ends without the text */
    async said(text: string): Promise<void> {
      const missing = () => `the process had written "${text}"; it wrote:\n${written.both}`;
      await waitUntil(missing, () => {
        if (written.both.includes(text)) return true;
        if (hasEnded) throw new Error(`it ended before ${missing()}`);
        return false;
      });
    },
    /** Sends a signal without waiting. */
    signal: (signal: NodeJS.Signals) => void child.kill(signal),
    /** Sends a signal and waits for the end of the process. @returns its exit code, or null if a signal ended it */
    async end(signal: NodeJS.Signals) {
      child.kill(signal);
      return (await ended).code;
    },
    ended,
  };
}

/** The servers and settings that worker processes use. */
export interface WorkerSurroundings extends Pick<TestEnvironment, 'address' | 'namespace' | 'taskQueue' | 'settings'> {
  sandbox: { url: string };
  receiver: { url: string };
}

/** The variables of commands that connect to the Temporal server of an environment. */
export function starterEnvOf({ address, namespace, taskQueue }: WorkerSurroundings): ProcessEnv {
  return { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace, TEMPORAL_TASK_QUEUE: taskQueue };
}

/** Runs `node dist/starter.js ARGS` to its end. */
export function starterProcess(args: readonly string[], env: ProcessEnv = {}, cwd?: string): Promise<Ended> {
  return startStarter(args, env, cwd).ended;
}

/** Starts `node dist/starter.js ARGS`. */
export function startStarter(args: readonly string[], env: ProcessEnv = {}, cwd?: string): RunningProcess {
  return startProcess(join(DIST, 'starter.js'), args, { env, cwd });
}

type HealthPath = '/healthz' | '/readyz';

export type WorkerProcess = Awaited<ReturnType<typeof startWorkerProcess>>;

/** Starts `node dist/worker.js`, with free ports for health and metrics unless the variables set them. */
export async function startWorkerProcess(options: ProcessOptions) {
  const own = { HEALTH_ADDRESS: `127.0.0.1:${await freePort()}`, METRICS_ADDRESS: `127.0.0.1:${await freePort()}` };
  const env = { ...own, ...options.env };
  const worker = startProcess(join(DIST, 'worker.js'), [], { ...options, env });
  const get = (address: string, path: string) =>
    fetch(`http://${address}${path}`, { headers: { connection: 'close' } });
  const health = async (path: HealthPath) => {
    const response = await get(env.HEALTH_ADDRESS, path);
    return { status: response.status, body: (await response.text()).trim() };
  };
  let hasEnded = false;
  void worker.ended.then(() => (hasEnded = true));
  return {
    ...worker,
    health,
    /** Waits until the endpoint returns this status. @returns the body */
    untilHealth: (path: HealthPath, status: number) =>
      waitUntil(
        () => `${path} returns ${status}; the worker wrote:\n${worker.output()}`,
        async () => {
          if (hasEnded) throw new Error(`the worker ended:\n${worker.output()}`);
          const answer = await health(path).catch(() => undefined);
          return answer?.status === status && answer.body;
        },
      ),
    metrics: async () => (await get(env.METRICS_ADDRESS, '/metrics')).text(),
  };
}

/**
 * Starts a worker process and waits until it is ready. It chooses its own ports, because `freePort` cannot prevent
 * collisions between many processes. A test that needs health or metrics sets their addresses.
 *
 * @throws Error with its output if it ends first
 */
export async function startReadyWorker(options: ProcessOptions): Promise<WorkerProcess> {
  const own = { HEALTH_ADDRESS: '127.0.0.1:0', METRICS_ADDRESS: '127.0.0.1:0' };
  const worker = await startWorkerProcess({ ...options, env: { ...own, ...options.env } });
  await worker.said('worker ready');
  return worker;
}

/** Test defaults for the variables of a worker process, without addresses. */
export function workerEnv(own: ProcessEnv): ProcessEnv {
  return {
    PARTNER_API_KEY: 'sandbox-key',
    PARTNER_TIMEOUT: '2s',
    PURCHASE_FIRST_POLL: '20ms',
    PURCHASE_POLL_INTERVAL: '50ms',
    FINGERPRINT_SECRET: TEST_FINGERPRINT_SECRET,
    DELIVERY_SECRET: TEST_SIGNING_SECRET,
    DELIVERY_TIMEOUT: '2s',
    REPORT_DIR: temporaryFolder(),
    ...own,
  };
}

/** The variables of a worker that ends before it contacts the partner or the checkout. Nothing listens there. */
export function standaloneWorkerEnv(own: ProcessEnv): ProcessEnv {
  return workerEnv({ PARTNER_BASE_URL: 'http://127.0.0.1:1', DELIVERY_URL: 'http://127.0.0.1:1', ...own });
}

/** The variables of a worker process for an environment, with its settings. */
export function workerEnvOf(environment: WorkerSurroundings, own: ProcessEnv = {}): ProcessEnv {
  const { address, namespace, taskQueue, settings, sandbox, receiver } = environment;
  return workerEnv({
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: namespace,
    TEMPORAL_TASK_QUEUE: taskQueue,
    PARTNER_BASE_URL: sandbox.url,
    DELIVERY_URL: receiver.url,
    PARTNER_TIMEOUT: `${settings.partnerTimeoutMs}ms`,
    DELIVERY_TIMEOUT: `${settings.deliveryTimeoutMs}ms`,
    PURCHASE_PLACE_WITHIN: `${settings.placeWithinMs}ms`,
    PURCHASE_FIRST_POLL: `${settings.firstPollMs}ms`,
    PURCHASE_POLL_INTERVAL: `${settings.pollIntervalMs}ms`,
    PURCHASE_WATCH: settings.watch,
    PURCHASE_DEADLINE: `${settings.deadlineMs}ms`,
    PURCHASE_CONFIRM_WINDOW: `${settings.confirmWindowMs}ms`,
    PURCHASE_REPLACE: settings.replace,
    ...own,
  });
}
