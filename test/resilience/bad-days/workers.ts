import { setTimeout as sleep } from 'node:timers/promises';
import { shutdownOptions } from '../../../src/workflows/policies';
import {
  type ProcessEnv,
  startReadyWorker,
  workerEnvOf,
  type WorkerProcess,
  type WorkerSurroundings,
} from '../../support/processes';

export type Workers = ReturnType<typeof workersOf>;

/** The worker processes of a day: the running ones, and those that were killed or stopped. */
export function workersOf(environment: WorkerSurroundings, own: ProcessEnv) {
  const env = workerEnvOf(environment, own);
  const violations: string[] = [];
  const all: WorkerProcess[] = [];
  const frozen = new Set<WorkerProcess>();
  let running: WorkerProcess[] = [];

  const start = async () => {
    const worker = await startReadyWorker({ env });
    all.push(worker);
    running.push(worker);
  };
  const thaw = (worker: WorkerProcess) => {
    if (frozen.delete(worker)) worker.signal('SIGCONT');
  };
  const stop = async (worker: WorkerProcess): Promise<void> => {
    const { shutdownForceTime } = shutdownOptions(environment.settings);
    const withinMs = shutdownForceTime + 60_000;
    if (worker.child.exitCode !== null || worker.child.signalCode !== null) {
      violations.push(`a worker ended by itself: ${lastLines(worker)}`);
      return;
    }
    const code = await Promise.race([worker.end('SIGTERM'), sleep(withinMs, 'late' as const, { ref: false })]);
    if (code === 'late') await worker.end('SIGKILL');
    if (code !== 0) violations.push(`a worker that was asked to end: ${code ?? 'a signal'}; ${lastLines(worker)}`);
  };
  return {
    /** Violations of the workers, in words. */
    violations,
    start,
    /** Sends the signal before it waits for anything, and starts another worker after a while. */
    async end(number: number, signal: 'SIGKILL' | 'SIGTERM', anotherAfterMs: number): Promise<void> {
      const worker = running[number % running.length];
      if (!worker) return;
      running = running.filter((other) => other !== worker);
      thaw(worker);
      const ended = signal === 'SIGKILL' ? worker.end(signal) : stop(worker);
      await sleep(anotherAfterMs);
      await Promise.all([start(), ended]);
    },
    /** Freezes a worker for a while. */
    async freeze(number: number, ms: number): Promise<void> {
      const worker = running[number % running.length];
      if (!worker || frozen.has(worker)) return;
      worker.signal('SIGSTOP');
      frozen.add(worker);
      await sleep(ms);
      thaw(worker);
    },
    /** Stops every worker with SIGTERM. */
    async stopAll(): Promise<void> {
      await Promise.all(running.splice(0).map(stop));
    },
    /** The output of all workers. */
    output: () => all.map((worker) => worker.output()),
  };
}

function lastLines(worker: WorkerProcess): string {
  return worker.output().trim().split('\n').slice(-3).join(' | ');
}
