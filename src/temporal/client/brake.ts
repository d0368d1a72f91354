import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { ClosedBrake, ReportedPlacement } from '../../contracts/brake';
import { BRAKE_WORKFLOW, brakeWorkflowId, REPORT_PLACEMENTS_SIGNAL } from '../../contracts/names';
import { BRAKE_REASONS } from '../../domain/brake';

/** What the server knows of the brake of a task queue. One that does not run is open. */
export interface BrakeStatus {
  running: boolean;
  closed?: ClosedBrake;
}

/** Asks the server alone: no worker has to answer. @throws ServiceError when it can't be asked within so many ms. */
export async function readBrake(client: Client, taskQueue: string, withinMs: number): Promise<BrakeStatus> {
  try {
    const { status, memo } = await client.withDeadline(Date.now() + withinMs, () =>
      client.workflow.getHandle(brakeWorkflowId(taskQueue)).describe(),
    );
    const running = status.name === 'RUNNING';
    const closed = memo?.brake;
    const isInForce = running && isClosedBrake(closed) && Date.now() < closed.until;
    return { running, closed: isInForce ? closed : undefined };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return { running: false };
    throw error;
  }
}

/**
 * Reports placements to the brake. It is started by what went wrong; what went well only matters to one that runs.
 *
 * @returns whether there is one. @throws ServiceError when the server can't be asked within so many ms.
 */
export async function reportToBrake(
  client: Client,
  taskQueue: string,
  placements: ReportedPlacement[],
  withinMs: number,
): Promise<boolean> {
  const workflowId = brakeWorkflowId(taskQueue);
  const isToStart = placements.some(({ sign }) => sign !== 'GOOD' && sign !== 'NOTHING');
  try {
    await client.withDeadline(Date.now() + withinMs, async () => {
      if (!isToStart) return client.workflow.getHandle(workflowId).signal(REPORT_PLACEMENTS_SIGNAL, placements);
      await client.workflow.signalWithStart(BRAKE_WORKFLOW, {
        workflowId,
        taskQueue,
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        signal: REPORT_PLACEMENTS_SIGNAL,
        signalArgs: [placements],
        // It must not wait behind the very burst that it is to hold back.
        priority: { priorityKey: 1 },
        staticSummary: 'holds new placements back while the partner takes none',
      });
    });
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

function isClosedBrake(value: unknown): value is ClosedBrake {
  if (typeof value !== 'object' || value === null) return false;
  const { reason, since, until } = value as Partial<ClosedBrake>;
  return BRAKE_REASONS.some((known) => known === reason) && [since, until].every((time) => typeof time === 'number');
}
