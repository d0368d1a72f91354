import { type Client, isGrpcServiceError, ServiceError, type WorkflowExecutionInfo } from '@temporalio/client';
import { executionInfoFromRaw } from '@temporalio/client/lib/helpers';

type RawExecution = WorkflowExecutionInfo['raw'];

/** A workflow as lists and descriptions show it. */
export interface ReadExecution extends Omit<WorkflowExecutionInfo, 'raw'> {
  /** Why there is no memo: it was written by a client with another codec or converter, or it is broken. */
  memoIssue?: string;
}

/**
 * Lists workflows, each read for itself. The SDK's own list ends with the first memo that it can't decode, and one such workflow
 * would hide all those behind it.
 *
 * @throws ServiceError when the server can't be asked.
 */
export async function* listExecutions(client: Client, query: string, pageSize?: number): AsyncGenerator<ReadExecution> {
  let nextPageToken: Uint8Array | undefined;
  do {
    const page = await client.workflowService
      .listWorkflowExecutions({ namespace: client.options.namespace, query, nextPageToken, pageSize })
      .catch(refuse);
    for (const raw of page.executions) yield await readExecution(client, raw);
    nextPageToken = page.nextPageToken;
  } while (nextPageToken.length > 0);
}

/** Reads one workflow, without its memo where that can't be decoded. */
export async function readExecution(client: Client, raw: RawExecution): Promise<ReadExecution> {
  const { loadedDataConverter, namespace } = client.options;
  const read = (one: RawExecution) => executionInfoFromRaw(one, loadedDataConverter, one, namespace);
  try {
    return await read(raw);
  } catch {
    // The message of what failed may quote the memo. A copy would lose the fields whose default is the prototype's.
    const withoutMemo = Object.assign(Object.create(raw) as RawExecution, { memo: undefined });
    return { ...(await read(withoutMemo)), memoIssue: 'it could not be decoded' };
  }
}

/** As the SDK's own list does. */
function refuse(error: unknown): never {
  if (isGrpcServiceError(error)) throw new ServiceError('Failed to list workflows', { cause: error });
  throw error;
}
