import type { Client } from '@temporalio/client';

/** Names a client's namespace, and its server if known, in messages: connecting to the wrong one is a common mistake. */
export function describeNamespace({ connection, options: { namespace } }: Client): string {
  const { options } = connection as { options?: { address?: string } };
  return `namespace ${namespace}${options?.address === undefined ? '' : ` at ${options.address}`}`;
}
