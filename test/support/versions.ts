import type { TestEnvironment } from './test-environment';
import { waitUntil } from './wait-until';

/** What a person does to the versions of an environment's workers, with the services that the Temporal CLI uses. */
export interface Deployment {
  name: string;
  /** `temporal worker deployment set-current-version`. Undefined: the workers that have no version. */
  setCurrent(buildId?: string): Promise<void>;
  /** `temporal workflow update-options --versioning-override-behavior pinned`. */
  move(workflowId: string, buildId: string): Promise<void>;
  /** How a workflow is bound, such as `PINNED to BUILD`. */
  versionOf(workflowId: string): Promise<string>;
}

const PINNED = 1;

export function deploymentOf({ client, namespace, taskQueue }: TestEnvironment): Deployment {
  const { workflowService } = client;
  const name = taskQueue;
  return {
    name,
    setCurrent(buildId = '') {
      // The server knows a version, and the queues that its workers poll, a moment after they have begun.
      const set = () =>
        workflowService
          .setWorkerDeploymentCurrentVersion({ namespace, deploymentName: name, buildId, identity: 'a person' })
          .then(() => true)
          .catch(() => false);
      return waitUntil(`${buildId || 'no version'} is current`, set, { everyMs: 100 }).then(() => undefined);
    },
    async move(workflowId, buildId) {
      const pinned = { behavior: PINNED, version: { deploymentName: name, buildId } };
      await workflowService.updateWorkflowExecutionOptions({
        namespace,
        workflowExecution: { workflowId },
        workflowExecutionOptions: { versioningOverride: { pinned } },
        updateMask: { paths: ['versioning_override'] },
      });
    },
    async versionOf(workflowId) {
      const { raw } = await client.workflow.getHandle(workflowId).describe();
      const { behavior, deploymentVersion } = raw.workflowExecutionInfo?.versioningInfo ?? {};
      return `${behavior === PINNED ? 'PINNED' : 'AUTO_UPGRADE'} to ${deploymentVersion?.buildId}`;
    },
  };
}
