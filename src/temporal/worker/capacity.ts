import { availableParallelism, totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import type { WorkerOptions } from '@temporalio/worker';

/** The resources that the process may use. */
export interface Machine {
  cores: number;
  /** Bytes; the container's limit if there is one. */
  memory: number;
  /** V8's heap limit per thread, in bytes. */
  heap: number;
}

const MB = 1024 * 1024;
/** The resident memory of an idle worker, rounded up. */
const IDLE = 250 * MB;
/** The resident memory of an open purchase. It is highest with PURCHASE_WATCH=history. */
const CACHED_WORKFLOW = 450 * 1024;
/** More would not be worth the memory: an uncached purchase is replayed only once, when its order has ended. */
const MAX_CACHED_WORKFLOWS = 1_000;
const TASKS_OF_A_THREAD = 40;

/**
 * How much a worker does at once and keeps in memory. The figures are explained in docs/reference/configuration.md,
 * "Adapting to the machine".
 */
export function capacityFor({ cores, memory, heap }: Machine) {
  const threads = clamp(1, Math.floor(cores / 2), 4);
  const half = Math.min(memory - IDLE, heap * threads) / 2;
  return {
    workflowThreadPoolSize: threads,
    maxCachedWorkflows: clamp(100, Math.floor(half / CACHED_WORKFLOW), MAX_CACHED_WORKFLOWS),
    maxConcurrentWorkflowTaskExecutions: TASKS_OF_A_THREAD * threads,
    // Many may wait for a slow partner or checkout. They need no CPU, but each may hold a response in memory.
    maxConcurrentActivityTaskExecutions: clamp(100, Math.floor(memory / (4 * MB)), 500),
  } satisfies Partial<WorkerOptions>;
}

export function thisMachine(): Machine {
  const limit = process.constrainedMemory();
  const total = totalmem();
  return {
    cores: availableParallelism(),
    memory: limit > 0 && limit < total ? limit : total,
    heap: getHeapStatistics().heap_size_limit,
  };
}

function clamp(min: number, value: number, max: number): number {
  return Math.max(min, Math.min(value, max));
}
