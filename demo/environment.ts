import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Sandbox, startSandbox } from '../sandbox';
import { createStarter, type Starter } from '../src/starter/create-starter';
import { registerSearchAttributes } from '../src/temporal/client';
import { type DemoCheckout, startDemoCheckout } from './checkout';
import {
  portFrom,
  startTemporalServer,
  startWorkerProcess,
  type TemporalServer,
  type WorkerProcess,
} from './processes';

/** How many times faster than real time orders age. The worker polls that many times more often. */
const SPEED = 30;

/** The servers and the worker process of the demo. */
export interface DemoEnvironment {
  temporal: TemporalServer;
  sandbox: Sandbox;
  checkout: DemoCheckout;
  starter: Starter;
  /** A worker left over from elsewhere may connect to this server. It must get none of the demo's tasks. */
  taskQueue: string;
  worker: WorkerProcess;
  /** Starts another worker process after the first one was killed. */
  restartWorker(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts everything that the demo needs.
 *
 * @param log receives a line for each part
 * @throws Error if a part does not start, after closing the parts that have started
 */
export async function startEnvironment(cli: string, log: (line: string) => void): Promise<DemoEnvironment> {
  const closers: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const closePart of closers.splice(0).toReversed()) await closePart();
  };
  try {
    const temporal = await startTemporalServer(cli);
    closers.push(temporal.stop);
    await registerSearchAttributes(temporal.client.connection, 'default');
    log(`Temporal   ${temporal.address}, UI at ${temporal.uiUrl}`);

    const sandbox = await startSandbox({ speed: SPEED, seed: 'demo' });
    closers.push(sandbox.close);
    log(`partner    ${sandbox.url}, a sandbox at ${SPEED}x speed`);

    const secret = `whsec_${randomBytes(32).toString('base64')}`;
    const checkout = await startDemoCheckout(secret);
    closers.push(checkout.close);
    log(`checkout   ${checkout.url}, verifies every signature`);

    const folder = mkdtempSync(join(tmpdir(), 'fulfilment-demo-'));
    const workerLog = join(folder, 'worker.log');
    const taskQueue = `demo-${randomUUID()}`;
    const servers = await workerVariables(temporal, sandbox, checkout, secret, folder);
    const env = { ...servers, TEMPORAL_TASK_QUEUE: taskQueue };
    let starting = startWorkerProcess(env, workerLog);
    // A worker that is still starting must also be stopped.
    closers.push(() =>
      starting.then(
        (worker) => worker.stop('SIGTERM'),
        () => undefined,
      ),
    );
    const environment: DemoEnvironment = {
      temporal,
      sandbox,
      checkout,
      starter: createStarter(temporal.client, { taskQueue }),
      taskQueue,
      worker: await starting,
      async restartWorker() {
        starting = startWorkerProcess(env, workerLog);
        environment.worker = await starting;
      },
      close,
    };
    log(`worker     process ${environment.worker.pid}, log in ${workerLog}`);
    return environment;
  } catch (error) {
    await close();
    throw error;
  }
}

/** Production settings, but with shorter times. */
async function workerVariables(
  temporal: TemporalServer,
  sandbox: Sandbox,
  checkout: DemoCheckout,
  secret: string,
  folder: string,
): Promise<NodeJS.ProcessEnv> {
  return {
    PATH: process.env.PATH,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_UI_URL: temporal.uiUrl,
    PARTNER_BASE_URL: sandbox.url,
    PARTNER_API_KEY: 'sandbox-key',
    PARTNER_TIMEOUT: '2s',
    PURCHASE_FIRST_POLL: '200ms',
    PURCHASE_POLL_INTERVAL: `${30_000 / SPEED}ms`,
    PURCHASE_DEADLINE: `${(25 * 60_000) / SPEED}ms`,
    PURCHASE_CONFIRM_WINDOW: '5s',
    PURCHASE_PLACE_WITHIN: '12s',
    FINGERPRINT_SECRET: randomBytes(32).toString('hex'),
    DELIVERY_URL: checkout.url,
    DELIVERY_SECRET: secret,
    REPORT_DIR: join(folder, 'reports'),
    HEALTH_ADDRESS: `127.0.0.1:${await portFrom(8081)}`,
    METRICS_ADDRESS: `127.0.0.1:${await portFrom(9464)}`,
    LOG_FORMAT: 'json',
  };
}
