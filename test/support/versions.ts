import type { TestEnvironment } from './test-environment';
import { waitUntil } from './wait-until';

const PINNED = 1;

export type Deployment = ReturnType<typeof deploymentOf>;

/** What a person does to the versions of an environment's workers, with the services that the Temporal CLI uses. */
export function deploymentOf({ client, namespace, taskQueue }: TestEnvironment) {
  const { workflowService } = client;
  const name = taskQueue;
  return {
    name,
    /** `temporal worker deployment set-current-version`. Without an id: the workers that have no version. */
    setCurrent(buildId = '') {
      // The server knows a version, and the queues that its workers poll, a moment after they have begun.
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
    /** How a workflow is bound, such as `PINNED to BUILD`. */
    async versionOf(workflowId: string) {
      const { raw } = await client.workflow.getHandle(workflowId).describe();
      const { behavior, deploymentVersion } = raw.workflowExecutionInfo?.versioningInfo ?? {};
      return `${behavior === PINNED ? 'PINNED' : 'AUTO_UPGRADE'} to ${deploymentVersion?.buildId}`;
    },
  };
}
