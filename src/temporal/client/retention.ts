import type { Client } from '@temporalio/client';
import { inHours } from '../../domain/in-hours';

const DAY_MS = 24 * 3_600_000;

/**
 * Checks a look-back against the namespace's retention less a day. Older purchases are forgotten, and a reconciliation would
 * report each of their orders as an orphan.
 *
 * @returns why the look-back is refused and what to do, or undefined.
 */
export async function lookbackIssue(client: Client, lookbackMs: number): Promise<string | undefined> {
  const { namespace } = client.options;
  const { config } = await client.workflowService.describeNamespace({ namespace });
  const retentionMs = Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) * 1_000;
  if (lookbackMs <= retentionMs - DAY_MS) return undefined;
  const needed = inHours(lookbackMs + DAY_MS);
  return (
    `A look-back of ${inHours(lookbackMs)} needs a retention of ${needed} in namespace ${namespace}, which has ` +
    `${inHours(retentionMs)}. Look back less far, or: ` +
    `temporal operator namespace update --retention ${needed} --namespace ${namespace} ` +
    '(on Temporal Cloud: tcld namespace retention set)'
  );
}
