import type { Worker, WorkerDeploymentOptions } from '@temporalio/worker';

/** How often the worker's state is checked, and how long a failed worker may take to end by itself, in ms. */
const FAILED_LIMITS = { everyMs: 1_000, withinMs: 5_000 };

/**
 * Runs a worker until it ends. A failed worker gets a few seconds to end: otherwise the SDK may wait forever for its
 * polls, while health probes succeed.
 * @throws the SDK's error, or an Error if none arrives in time
 */
export async function runWorker(
  worker: Pick<Worker, 'run' | 'getState'>,
  { everyMs, withinMs } = FAILED_LIMITS,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const stuck = new Promise<never>((_, reject) => {
    timer = setInterval(() => {
      if (worker.getState() !== 'FAILED') return;
      clearInterval(timer);
      timer = setTimeout(() => reject(new Error('the worker has failed but does not stop; see the log')), withinMs);
    }, everyMs);
  });
  try {
    await Promise.race([worker.run(), stuck]);
  } finally {
    clearTimeout(timer);
  }
}

/** Each workflow stays on the version with which it started. Without a version, the worker is not versioned. */
export function versioningOf(version?: WorkerDeploymentOptions['version']): WorkerDeploymentOptions | undefined {
  return version && { version, useWorkerVersioning: true, defaultVersioningBehavior: 'PINNED' };
}
