import { setTimeout as sleep } from 'node:timers/promises';
import { shutdownOptions } from '../../../src/workflows/policies';
import { temporaryFolder } from '../../support/clean-up';
import { type ProcessEnv, startReadyWorker, workerEnvOf, type WorkerProcess } from '../../support/processes';
import type { TestEnvironment } from '../../support/test-environment';

/** The worker processes of a day: those that run, and those that were killed or stopped. */
export class Workers {
  /** What a worker did that no worker may do, in words. */
  readonly violations: string[] = [];
  private readonly env: ProcessEnv;
  private readonly all: WorkerProcess[] = [];
  private running: WorkerProcess[] = [];
  private readonly frozen = new Set<WorkerProcess>();

  constructor(
    private readonly environment: TestEnvironment,
    own: ProcessEnv,
  ) {
    this.env = workerEnvOf(environment, { REPORT_DIR: temporaryFolder(), ...own });
  }

  async start(): Promise<void> {
    const worker = await startReadyWorker({ env: this.env });
    this.all.push(worker);
    this.running.push(worker);
  }

  /** The signal is sent before anything is waited for. Another worker is started after a while. */
  async end(number: number, signal: 'SIGKILL' | 'SIGTERM', anotherAfterMs: number): Promise<void> {
    const worker = this.take(number);
    if (!worker) return;
    this.thaw(worker);
    const ended = signal === 'SIGKILL' ? worker.end(signal) : this.stop(worker);
    await sleep(anotherAfterMs);
    await Promise.all([this.start(), ended]);
  }

  /** Stops a worker's clock, and lets it go on as if nothing had been. */
  async freeze(number: number, ms: number): Promise<void> {
    const worker = this.running[number % this.running.length];
    if (!worker || this.frozen.has(worker)) return;
    worker.signal('SIGSTOP');
    this.frozen.add(worker);
    await sleep(ms);
    this.thaw(worker);
  }

  /** Every worker ends when it is asked to. */
  async stopAll(): Promise<void> {
    const running = this.running;
    this.running = [];
    await Promise.all(running.map((worker) => this.stop(worker)));
  }

  /** All that they wrote. */
  output(): string[] {
    return this.all.map((worker) => worker.output());
  }

  private take(number: number): WorkerProcess | undefined {
    const worker = this.running[number % this.running.length];
    this.running = this.running.filter((other) => other !== worker);
    return worker;
  }

  private thaw(worker: WorkerProcess): void {
    if (this.frozen.delete(worker)) worker.signal('SIGCONT');
  }

  private async stop(worker: WorkerProcess): Promise<void> {
    const { shutdownForceTime } = shutdownOptions(this.environment.settings);
    const withinMs = shutdownForceTime + 15_000;
    if (worker.child.exitCode !== null || worker.child.signalCode !== null) {
      this.violations.push(`a worker ended by itself: ${lastLines(worker)}`);
      return;
    }
    const code = await Promise.race([worker.end('SIGTERM'), sleep(withinMs, 'late' as const, { ref: false })]);
    if (code === 'late') await worker.end('SIGKILL');
    if (code !== 0) this.violations.push(`a worker that was asked to end: ${code ?? 'a signal'}; ${lastLines(worker)}`);
  }
}

function lastLines(worker: WorkerProcess): string {
  return worker.output().trim().split('\n').slice(-3).join(' | ');
}
