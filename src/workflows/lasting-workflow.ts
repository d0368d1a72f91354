import type { VersioningBehavior } from '@temporalio/common';
import { workflowInfo } from '@temporalio/workflow';

/**
 * The options of a workflow whose purpose is to last: a pinned one would keep the version that started it running, which may be
 * for ever. Without worker versioning the server takes no workflow task that names a behavior (run), and it would never begin.
 */
export function lastingWorkflowOptions(): { versioningBehavior?: VersioningBehavior } {
  const isVersioned = Boolean(workflowInfo().currentDeploymentVersion?.deploymentName);
  return { versioningBehavior: isVersioned ? 'AUTO_UPGRADE' : undefined };
}
