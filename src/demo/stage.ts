import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Sandbox, startSandbox } from '../sandbox';
import { createStarter, type Starter } from '../starter/purchases';
import { registerSearchAttributes } from '../temporal/client/search-attributes';
import { type DemoCheckout, startDemoCheckout } from './checkout';
import { portFrom, startTemporalServer, type TemporalServer } from './temporal-server';
import { startWorkerProcess, type WorkerProcess } from './worker-process';

/** Orders age so many times faster than the calendar, and the worker looks so many times more often. */
export const SPEED = 30;

/** Everything that plays: real servers, a real worker process. */
export interface Stage {
  temporal: TemporalServer;
  sandbox: Sandbox;
  checkout: DemoCheckout;
  starter: Starter;
  worker: WorkerProcess;
  workerLog: string;
  /** Starts another worker process in the place of one that was killed. */
  restartWorker(): Promise<void>;
  close(): Promise<void>;
}

/** Builds the stage. `say` is told each step. @throws Error when a part does not start; the others are closed */
export async function buildStage(cli: string, say: (line: string) => void): Promise<Stage> {
  const parts: { close(): Promise<unknown> }[] = [];
  const close = async () => {
    for (const part of parts.toReversed()) await part.close();
  };
  const keep = <T>(part: T, closePart: () => Promise<unknown>): T => {
    parts.push({ close: closePart });
    return part;
  };
  try {
    const temporal = await startTemporalServer(cli);
    keep(temporal, temporal.stop);
    await registerSearchAttributes(temporal.client.connection, 'default');
    say(`Temporal   ${temporal.address}, its UI at ${temporal.uiUrl}`);

    const sandbox = await startSandbox({ speed: SPEED, seed: 'demo' });
    keep(sandbox, sandbox.close);
    say(`partner    ${sandbox.url}, a sandbox on a clock ${SPEED} times as fast`);

    const secret = `whsec_${randomBytes(32).toString('base64')}`;
    const checkout = await startDemoCheckout(secret);
    keep(checkout, checkout.close);
    say(`checkout   ${checkout.url}, verifies every event`);

    const folder = mkdtempSync(join(tmpdir(), 'fulfilment-demo-'));
    const workerLog = join(folder, 'worker.log');
    const env = {
      ...(await workerEnvironment(temporal, sandbox, checkout, secret)),
      REPORT_DIR: join(folder, 'reports'),
    };
    const stage: Stage = {
      ...{ temporal, sandbox, checkout, workerLog, close },
      starter: createStarter(temporal.client),
      worker: await startWorkerProcess(env, workerLog),
      async restartWorker() {
        stage.worker = await startWorkerProcess(env, workerLog);
      },
    };
    keep(stage, () => stage.worker.kill('SIGTERM'));
    say(`worker     process ${stage.worker.pid}, its log in ${workerLog}`);
    return stage;
  } catch (error) {
    await close();
    throw error;
  }
}

/** The settings of production, divided by the speed of the clock. */
async function workerEnvironment(
  temporal: TemporalServer,
  sandbox: Sandbox,
  checkout: DemoCheckout,
  secret: string,
): Promise<NodeJS.ProcessEnv> {
  return {
    PATH: process.env.PATH,
    TEMPORAL_ADDRESS: temporal.address,
    PARTNER_BASE_URL: sandbox.url,
    PARTNER_API_KEY: 'sandbox-key',
    PARTNER_TIMEOUT: '2s',
    PURCHASE_FIRST_POLL: '200ms',
    PURCHASE_POLL_INTERVAL: `${30_000 / SPEED}ms`,
    PURCHASE_DEADLINE: `${(25 * 60_000) / SPEED}ms`,
    PURCHASE_SETTLE: '5s',
    PURCHASE_PLACE_WITHIN: '12s',
    FINGERPRINT_SECRET: randomBytes(32).toString('hex'),
    DELIVERY_URL: checkout.url,
    DELIVERY_SECRET: secret,
    HEALTH_ADDRESS: `127.0.0.1:${await portFrom(8081)}`,
    METRICS_ADDRESS: `127.0.0.1:${await portFrom(9464)}`,
    LOG_FORMAT: 'json',
  };
}
