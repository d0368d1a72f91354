import type { TestEnvironment } from './test-environment';
import { waitUntil } from './wait-until';

const PINNED = 1;

export type Deployment = ReturnType<typeof deploymentOf>;

/** Manages the versions of an environment's workers through the same services as the Temporal CLI. */
export function deploymentOf({ client, namespace, taskQueue }: TestEnvironment) {
  const { workflowService } = client;
  const name = taskQueue;
  return {
    name,
    /** `temporal worker deployment set-current-version`. An empty id means the unversioned workers. */
    setCurrent(buildId = '') {
      // The server learns of a version and its task queues a moment after the workers start.
      const set = () =>
        workflowService
          .setWorkerDeploymentCurrentVersion({ namespace, deploymentName: name, buildId, identity: 'a person' })
          .then(() => true)
          .catch(() => false);
      return waitUntil(`${buildId || 'no version'} is current`, set, { everyMs: 100 }).then(() => undefined);
    },
    /** `temporal workflow update-options --versioning-override-behavior pinned`. */
    async move(workflowId: string, buildId: string) {
      const pinned = { behavior: PINNED, version: { deploymentName: name, buildId } };
      await workflowService.updateWorkflowExecutionOptions({
        namespace,
        workflowExecution: { workflowId },
        workflowExecutionOptions: { versioningOverride: { pinned } },
        updateMask: { paths: ['versioning_override'] },
      });
    },
    /** The versioning of a workflow, such as `PINNED to BUILD`. */
    async versionOf(workflowId: string) {
      const { raw } = await client.workflow.getHandle(workflowId).describe();
      const { behavior, deploymentVersion } = raw.workflowExecutionInfo?.versioningInfo ?? {};
      return `${behavior === PINNED ? 'PINNED' : 'AUTO_UPGRADE'} to ${deploymentVersion?.buildId}`;
    },
  };
}
