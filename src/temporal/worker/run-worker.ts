import type { Worker, WorkerDeploymentOptions } from '@temporalio/worker';

/** How often the state of a worker is checked, and how long one that has failed may take to end by itself, in ms. */
const FAILED_LIMITS = { everyMs: 1_000, withinMs: 5_000 };

/**
 * Runs a worker until it has ended. After a failure the SDK may wait for ever for its polls, alive to every probe, so a failed worker
 * gets a few seconds. @throws what the SDK says of the failure, or Error if it says nothing in time
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
      timer = setTimeout(() => reject(new Error('the worker has failed, see the log, and does not end')), withinMs);
    }, everyMs);
  });
  try {
    await Promise.race([worker.run(), stuck]);
  } finally {
    clearTimeout(timer);
  }
}

/** Each workflow stays with the version that it began on. Without a version the worker is not versioned. */
export function versioningOf(version?: WorkerDeploymentOptions['version']): WorkerDeploymentOptions | undefined {
  return version && { version, useWorkerVersioning: true, defaultVersioningBehavior: 'PINNED' };
}
