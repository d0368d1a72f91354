import { availableParallelism, totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import type { WorkerOptions } from '@temporalio/worker';

/** What the process may use. */
export interface Machine {
  cores: number;
  /** Bytes: the container's limit, if there is one. */
  memory: number;
  /** Bytes that V8 lets the heap of a thread grow to. */
  heap: number;
}

/** How much a worker does at once and keeps in memory. */
export interface Capacity {
  workflowThreads: number;
  cachedWorkflows: number;
  workflowTasks: number;
  activities: number;
}

type SetCapacity = Partial<Record<keyof Capacity, number | undefined>>;

const MB = 1024 * 1024;
/** What an idle worker has resident, rounded up. */
const IDLE = 250 * MB;
/** What an open purchase keeps resident, with PURCHASE_WATCH=history, which keeps the most. */
const CACHED_WORKFLOW = 450 * 1024;
/** A purchase that waits needs none: when its order has ended, its history is replayed once. */
const MOST_CACHED = 1_000;
const TASKS_OF_A_THREAD = 40;

/** The machine that this process runs on. */
function thisMachine(): Machine {
  const limit = process.constrainedMemory();
  const total = totalmem();
  return {
    cores: availableParallelism(),
    memory: limit > 0 && limit < total ? limit : total,
    heap: getHeapStatistics().heap_size_limit,
  };
}

/**
 * Works out what fits a machine. The figures that the rules follow from are in docs/configuration.md, "What fits the machine".
 *
 * @param set what the operator has set takes the place of what is worked out.
 */
export function capacityFor({ cores, memory, heap }: Machine, set: SetCapacity = {}): Capacity {
  const workflowThreads = set.workflowThreads ?? between(1, Math.floor(cores / 2), 4);
  const half = Math.min(memory - IDLE, heap * workflowThreads) / 2;
  return {
    workflowThreads,
    cachedWorkflows: set.cachedWorkflows ?? between(100, Math.floor(half / CACHED_WORKFLOW), MOST_CACHED),
    workflowTasks: set.workflowTasks ?? TASKS_OF_A_THREAD * workflowThreads,
    // Many wait for a slow partner or checkout at once; none of them computes, but each may hold an answer.
    activities: set.activities ?? between(100, Math.floor(memory / (4 * MB)), 500),
  };
}

/** What fits this machine, in the words of Temporal's SDK. @param set what the operator has set. */
export function capacityOptions(set: SetCapacity) {
  const { workflowThreads, cachedWorkflows, workflowTasks, activities } = capacityFor(thisMachine(), set);
  return {
    workflowThreadPoolSize: workflowThreads,
    maxCachedWorkflows: cachedWorkflows,
    maxConcurrentWorkflowTaskExecutions: workflowTasks,
    maxConcurrentActivityTaskExecutions: activities,
  } satisfies Partial<WorkerOptions>;
}

function between(least: number, wanted: number, most: number): number {
  return Math.max(least, Math.min(wanted, most));
}
