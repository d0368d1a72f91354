import type { Client } from '@temporalio/client';
import { createBatchedList } from '../../../src/temporal/client/batched-list';
import { createListedRuns } from '../../../src/temporal/client/listed-runs';

it('lists all runs of each purchase, even if one of those that are listed together has more than a query reads', async () => {
  const runsOf = { 'purchase-A': 1_005, 'purchase-B': 2, 'purchase-C': 1 };
  const list = async function* ({ query }: { query: string }) {
    for (const [workflowId, count] of Object.entries(runsOf)) {
      if (!query.includes(`'${workflowId}'`)) continue;
      for (let run = count; run > 0; run--) yield { workflowId, runId: `run-${run}`, startTime: new Date(run) };
    }
  };
  const client = { workflow: { list } } as unknown as Client;
  const { runs, hasOtherExecution } = createListedRuns(client, createBatchedList(client));
  const ofC = hasOtherExecution('purchase-C', 'run-1');
  const [a, b] = await Promise.all([runs('A'), runs('B')]);
  expect([a.length, a[0]?.runId]).toEqual([1_005, 'run-1']);
  expect(b.map(({ runId }) => runId)).toEqual(['run-1', 'run-2']);
  expect(await ofC).toBe(false);
});

it('waits for a slow list, but not in a search of the order history', async () => {
  jest.useFakeTimers();
  try {
    const answerAfterMs = 6_000;
    const list = async function* () {
      await new Promise((resolve) => setTimeout(resolve, answerAfterMs));
      yield { workflowId: 'purchase-A', runId: 'run-1', startTime: new Date(1) };
    };
    const client = { workflow: { list } } as unknown as Client;
    const { runs, runsInTime } = createListedRuns(client, createBatchedList(client));
    const inTime = expect(runsInTime('A')).rejects.toThrow('no list of runs within 5 s');
    const listed = runs('A');
    await jest.advanceTimersByTimeAsync(answerAfterMs + 1_000);
    await inTime;
    expect(await listed).toHaveLength(1);
  } finally {
    jest.useRealTimers();
  }
});

it('does not wait longer when the clock is set back', async () => {
  jest.useFakeTimers();
  try {
    const list = async function* () {
      yield await Promise.resolve({ workflowId: 'purchase-A', runId: 'run-1', startTime: new Date(1) });
    };
    const client = { workflow: { list } } as unknown as Client;
    const { runs } = createListedRuns(client, createBatchedList(client));
    for (const setBackMs of [0, 3_600_000]) {
      jest.setSystemTime(Date.now() - setBackMs);
      let listed: unknown;
      void runs('A').then((found) => (listed = found));
      await jest.advanceTimersByTimeAsync(1_000);
      expect(listed).toHaveLength(1);
    }
  } finally {
    jest.useRealTimers();
  }
});
