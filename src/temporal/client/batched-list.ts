import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import DataLoader from 'dataloader';
import { PURCHASE_WORKFLOW } from '../../contracts/names';
import { anyOf } from '../../contracts/purchase-queries';
import { BETWEEN_LIST_QUERIES_MS } from './visibility';

/** Requests within this time after the first share one query. */
const SHARED_WITHIN_MS = 20;
/** With ids of the greatest length, a query then has about 10,000 characters. */
const MAX_IDS_PER_QUERY = 50;
/** There may be more rows than ids, because each reset adds one. Further rows are not read. */
const MAX_ROWS = 1_000;

/** The values of the purchases with one id. */
export interface Listed {
  values: readonly string[];
  /** All rows were read. */
  isComplete: boolean;
}

/** Creates a loader of one value of each purchase with an id. @param entryOf returns the id and the value of a row */
type ReadListed = (
  attribute: string,
  entryOf: (row: WorkflowExecutionInfo) => [id?: string, value?: string],
) => DataLoader<string, Listed>;

/** Lists purchases by ids, many in one query, because the server limits the rate of queries. */
export function createBatchedList(client: Client, now: () => number): ReadListed {
  let askedAt = -Infinity;
  const batchScheduleFn = (ask: () => void) => {
    const dueAt = Math.max(now() + SHARED_WITHIN_MS, askedAt + BETWEEN_LIST_QUERIES_MS);
    askedAt = dueAt;
    setTimeout(ask, Math.max(0, dueAt - now()));
  };
  return (attribute, entryOf) =>
    new DataLoader(
      async (ids) => {
        const query = `WorkflowType = '${PURCHASE_WORKFLOW}' AND ${anyOf(attribute, ids)}`;
        const valuesOf = new Map<string, Set<string>>();
        let rows = 0;
        for await (const row of client.workflow.list({ query, pageSize: MAX_ROWS })) {
          if (++rows > MAX_ROWS) break;
          const [id, value] = entryOf(row);
          if (id !== undefined && value !== undefined) valuesOf.set(id, (valuesOf.get(id) ?? new Set()).add(value));
        }
        return ids.map((id) => ({ values: [...(valuesOf.get(id) ?? [])], isComplete: rows <= MAX_ROWS }));
      },
      { cache: false, maxBatchSize: MAX_IDS_PER_QUERY, batchScheduleFn },
    );
}
