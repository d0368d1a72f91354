import { performance } from 'node:perf_hooks';
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import DataLoader from 'dataloader';
import { PURCHASE_WORKFLOW } from '../../contracts/names';
import { anyOf } from '../../contracts/purchase-queries';
import { groupBy } from '../../domain/group-by';
import { BETWEEN_LIST_QUERIES_MS, ROWS_PER_PAGE } from './visibility';

/** Requests within this time after the first share one query. */
const SHARED_WITHIN_MS = 20;
/** With ids of maximum length, a query then has about 10,000 characters. */
const MAX_IDS_PER_QUERY = 50;
/** There may be more rows than ids, because each reset adds a row. Of several ids, rows beyond this are not read. */
const MAX_ROWS = 1_000;

/** The runs of purchases with one id. */
export interface Listed {
  /** Newest first. */
  runs: readonly WorkflowExecutionInfo[];
  /** Whether all rows were read. */
  isComplete: boolean;
}

/**
 * Creates a loader for runs by id.
 * @param idOf returns the id of a row
 * @param maxIds the most ids in one query; all rows of a single id are read
 */
export type BatchedList = (
  attribute: string,
  idOf: (row: WorkflowExecutionInfo) => string | undefined,
  maxIds?: number,
) => DataLoader<string, Listed>;

/** Lists purchases by id, many ids in one query, because the server limits the query rate. */
export function createBatchedList(client: Client): BatchedList {
  let askedAt = -Infinity;
  const batchScheduleFn = (ask: () => void) => {
    const dueAt = Math.max(performance.now() + SHARED_WITHIN_MS, askedAt + BETWEEN_LIST_QUERIES_MS);
    askedAt = dueAt;
    setTimeout(ask, Math.max(0, dueAt - performance.now()));
  };
  return (attribute, idOf, maxIds = MAX_IDS_PER_QUERY) =>
    new DataLoader(
      async (ids) => {
        const query = `WorkflowType = '${PURCHASE_WORKFLOW}' AND ${anyOf(attribute, ids)}`;
        const rows: WorkflowExecutionInfo[] = [];
        let isComplete = true;
        for await (const row of client.workflow.list({ query, pageSize: ROWS_PER_PAGE })) {
          isComplete = ids.length === 1 || rows.length < MAX_ROWS;
          if (!isComplete) break;
          rows.push(row);
        }
        const runsById = groupBy(rows, idOf);
        return ids.map((id) => ({ runs: runsById.get(id) ?? [], isComplete }));
      },
      { cache: false, maxBatchSize: maxIds, batchScheduleFn },
    );
}
