import { freePort } from '../../support/dev-server';
import { TEST_FINGERPRINT_SECRET, TEST_SIGNING_SECRET } from '../../support/world';
import { type RunningProcess, startProcess } from '../starter/process';

export interface WorkerProcess extends RunningProcess {
  /** What an endpoint of the health server answers: status and body. */
  health(path: '/healthz' | '/readyz'): Promise<{ status: number; body: string }>;
  /** Waits until the endpoint answers so. */
  untilHealth(path: '/healthz' | '/readyz', status: number): Promise<string>;
  metrics(): Promise<string>;
}

/** The settings of a worker that could run, with ports of its own. */
export async function workerEnvironment(own: Record<string, string>): Promise<Record<string, string>> {
  return {
    PARTNER_API_KEY: 'sandbox-key',
    PARTNER_TIMEOUT: '2s',
    PURCHASE_FIRST_POLL: '20ms',
    PURCHASE_POLL_INTERVAL: '50ms',
    FINGERPRINT_SECRET: TEST_FINGERPRINT_SECRET,
    DELIVERY_SECRET: TEST_SIGNING_SECRET,
    DELIVERY_TIMEOUT: '2s',
    HEALTH_ADDRESS: `127.0.0.1:${await freePort()}`,
    METRICS_ADDRESS: `127.0.0.1:${await freePort()}`,
    ...own,
  };
}

/** Starts `node dist/worker.js`. */
export function startWorkerProcess(env: Record<string, string>): WorkerProcess {
  const running = startProcess('worker', [], env);
  const health = async (path: string) => {
    const answer = await fetch(`http://${env.HEALTH_ADDRESS}${path}`, { headers: { connection: 'close' } });
    return { status: answer.status, body: (await answer.text()).trim() };
  };
  return {
    ...running,
    health,
    async untilHealth(path, status) {
      for (;;) {
        if (running.child.exitCode !== null) throw new Error(`the worker ended: ${(await running.ended).stderr}`);
        const answer = await health(path).catch(() => undefined);
        if (answer?.status === status) return answer.body;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    metrics: async () => (await fetch(`http://${env.METRICS_ADDRESS}/metrics`)).text(),
  };
}
