import type { WorkerDeploymentOptions } from '@temporalio/worker';

/**
 * With a version, each workflow stays with the version that it began on (`PINNED`), unless its code says otherwise.
 *
 * @returns undefined without one: the worker is not versioned.
 */
export function versioningOf(version?: WorkerDeploymentOptions['version']): WorkerDeploymentOptions | undefined {
  return version && { version, useWorkerVersioning: true, defaultVersioningBehavior: 'PINNED' };
}
