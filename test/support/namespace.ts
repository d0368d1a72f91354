import type { Connection } from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from '../../src/contracts/search-attributes';
import { registerSearchAttributes } from '../../src/temporal/client';
import { waitUntil } from './wait-until';

const TEN_DAYS = 10 * 24 * 3_600;

/** Makes a namespace with the search attributes of the project. */
export async function createNamespace(connection: Connection, namespace: string): Promise<void> {
  await connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: { seconds: TEN_DAYS as never },
  });
  const isRegistered = async () => {
    await registerSearchAttributes(connection, namespace);
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    return SEARCH_ATTRIBUTES.every(({ name }) => customAttributes?.[name] !== undefined);
  };
  // It takes a moment until all parts of the server know a new namespace.
  const what = `the namespace ${namespace} has its search attributes`;
  await waitUntil(what, () => isRegistered().catch(() => false));
}
