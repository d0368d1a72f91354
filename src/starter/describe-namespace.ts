import type { Client } from '@temporalio/client';

/** Names the namespace of a client, and its server if known, for messages: a wrong one is a frequent mistake. */
export function describeNamespace({ connection, options: { namespace } }: Client): string {
  const { options } = connection as { options?: { address?: string } };
  return `namespace ${namespace}${options?.address === undefined ? '' : ` at ${options.address}`}`;
}
