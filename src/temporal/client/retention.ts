import type { Client } from '@temporalio/client';

/**
 * How long the namespace of the client keeps a workflow after its end, in ms. What it has forgotten looks as if it had
 * never been: a reconciliation that looks back further finds orders of nobody.
 */
export async function readRetentionMs(client: Client): Promise<number> {
  const { namespace } = client.options;
  const { config } = await client.workflowService.describeNamespace({ namespace });
  return Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) * 1_000;
}
