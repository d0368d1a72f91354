import { setTimeout as sleep } from 'node:timers/promises';
import { shutdownOptions } from '../../../src/workflows/policies';
import { temporaryFolder } from '../../support/clean-up';
import { type ProcessEnv, startReadyWorker, workerEnvOf, type WorkerProcess } from '../../support/processes';
import type { TestEnvironment } from '../../support/test-environment';
import { WORKFLOW_CODE_LIMIT_MS } from './plan';

/** With these words Node ends a process whose workflow code was cut short, now and then. */
const HOOKS_CORRUPTED = 'async hook stack has become corrupted';

/** The worker processes of a day: those that run, and those that were killed or stopped. */
export class Workers {
  /** What a worker did that no worker may do, in words. */
  readonly violations: string[] = [];
  private readonly env: ProcessEnv;
  private readonly all: WorkerProcess[] = [];
  private running: WorkerProcess[] = [];
  private readonly frozen = new Set<WorkerProcess>();
  /** Those whose workflow code a freeze may have cut short. */
  private readonly frozenLong = new Set<WorkerProcess>();
  private readonly restarts: Promise<void>[] = [];

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
    void worker.ended.then(() => {
      if (this.wasEndedByNode(worker) && this.running.includes(worker)) this.restart(worker);
    });
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
    if (ms >= WORKFLOW_CODE_LIMIT_MS) this.frozenLong.add(worker);
    await sleep(ms);
    this.thaw(worker);
  }

  /** Every worker ends when it is asked to. */
  async stopAll(): Promise<void> {
    await Promise.all(this.restarts);
    const running = this.running;
    this.running = [];
    await Promise.all(running.map((worker) => this.stop(worker)));
  }

  /** All that they wrote. */
  output(): string[] {
    return this.all.map((worker) => worker.output());
  }

  /** What runs workers starts one again that ended by itself, as compose and Kubernetes do. */
  private restart(worker: WorkerProcess): void {
    this.running = this.running.filter((other) => other !== worker);
    const started = this.start().catch((error: unknown) => {
      this.violations.push(`a worker did not start again: ${String(error)}`);
    });
    this.restarts.push(started);
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
    if (this.wasEndedByNode(worker)) return;
    if (hasEnded(worker)) {
      this.violations.push(`a worker ended by itself: ${lastLines(worker)}`);
      return;
    }
    const code = await Promise.race([worker.end('SIGTERM'), sleep(withinMs, 'late' as const, { ref: false })]);
    if (code === 'late') await worker.end('SIGKILL');
    if (code === 0 || this.wasEndedByNode(worker)) return;
    this.violations.push(`a worker that was asked to end: ${code ?? 'a signal'}; ${lastLines(worker)}`);
  }

  private wasEndedByNode(worker: WorkerProcess): boolean {
    return hasEnded(worker) && this.frozenLong.has(worker) && worker.output().includes(HOOKS_CORRUPTED);
  }
}

function hasEnded({ child }: WorkerProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

function lastLines(worker: WorkerProcess): string {
  return worker.output().trim().split('\n').slice(-3).join(' | ');
}
