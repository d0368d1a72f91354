import type { Client } from '@temporalio/client';
import { createBatchedList } from '../../../src/temporal/client/batched-list';
import { createListedRuns } from '../../../src/temporal/client/listed-runs';

it('lists all runs of each purchase, even if one of those that are listed together has more than a query reads', async () => {
  const runsOf = { 'purchase-A': 1_005, 'purchase-B': 2 };
  const list = async function* ({ query }: { query: string }) {
    for (const [workflowId, count] of Object.entries(runsOf)) {
      if (!query.includes(`'${workflowId}'`)) continue;
      for (let run = count; run > 0; run--) yield { workflowId, runId: `run-${run}`, startTime: new Date(run) };
    }
  };
  const client = { workflow: { list } } as unknown as Client;
  const { runs } = createListedRuns(client, createBatchedList(client));
  const [a, b] = await Promise.all([runs('A'), runs('B')]);
  expect([a.length, a[0]?.runId]).toEqual([1_005, 'run-1']);
  expect(b.map(({ runId }) => runId)).toEqual(['run-1', 'run-2']);
});
