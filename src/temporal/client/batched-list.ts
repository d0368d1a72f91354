import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import DataLoader from 'dataloader';
import { PURCHASE_WORKFLOW } from '../../contracts/names';
import { BETWEEN_LIST_QUERIES_MS } from './lists';

/** Questions within this time of the first share one query. */
const SHARED_WITHIN_MS = 20;
/** A query with ids of the greatest length has about 10,000 characters then. */
const MOST_IDS = 50;
/** Each reset adds a row to a purchase, so there may be more rows than ids. Beyond this an answer is not whole. */
const MOST_ROWS = 1_000;

/** What the purchases with one id show. */
export interface Listed {
  values: readonly string[];
  /** There were not too many rows to read. */
  isWhole: boolean;
}

/** Reads one value of each purchase with an id. @param entryOf the id and the value of a row */
type ReadListed = (
  attribute: string,
  entryOf: (row: WorkflowExecutionInfo) => [id?: string, value?: string],
) => DataLoader<string, Listed>;

/** Lists purchases by ids of one kind, many by one query: the server refuses queries that come too fast. */
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
        const quoted = [...new Set(ids)].map((id) => `'${id}'`).join(', ');
        const query = `WorkflowType = '${PURCHASE_WORKFLOW}' AND ${attribute} IN (${quoted})`;
        const valuesOf = new Map<string, Set<string>>();
        let rows = 0;
        for await (const row of client.workflow.list({ query, pageSize: MOST_ROWS })) {
          if (++rows > MOST_ROWS) break;
          const [id, value] = entryOf(row);
          if (id !== undefined && value !== undefined) valuesOf.set(id, (valuesOf.get(id) ?? new Set()).add(value));
        }
        return ids.map((id) => ({ values: [...(valuesOf.get(id) ?? [])], isWhole: rows <= MOST_ROWS }));
      },
      { cache: false, maxBatchSize: MOST_IDS, batchScheduleFn },
    );
}
