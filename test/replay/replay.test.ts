import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from '@temporalio/worker';
import '../support/quiet-runtime';
import { keysIn, recordedHistories } from './histories';

const recorded = recordedHistories();
const BUNDLE = readFileSync(join(__dirname, '../../dist/workflow-bundle.js'), 'utf8');

describe('purchases that were recorded run the same way with the workflows of today', () => {
  it('replays each of them without a non-determinism: a deploy breaks no purchase that is under way', async () => {
    const failed = await failuresOf(BUNDLE);
    expect(failed).toEqual([]);
    expect(recorded.length).toBeGreaterThan(20);
  }, 120_000);

  it('would see a workflow that asks for another activity', async () => {
    const changed = BUNDLE.replaceAll('awaitOrderChange', 'awaitAnotherChange');
    expect(changed).not.toBe(BUNDLE);
    const failed = await failuresOf(changed);
    expect(failed.map(({ name }) => name)).toContain('overdue');
  }, 120_000);

  it.each(recorded)('$name holds no key', ({ history }) => {
    expect(keysIn(history)).toEqual([]);
  });

  it('would see a key in a payload', () => {
    const data = Buffer.from(JSON.stringify({ keys: [{ value: 'ABCDE-23456-FGHJK' }] })).toString('base64');
    expect(keysIn({ payloads: [{ data }] })).toHaveLength(1);
  });

  it('holds at least one purchase of each outcome', () => {
    const outcomes = new Set(recorded.flatMap(({ history }) => outcomeOf(history)));
    expect([...outcomes].toSorted()).toEqual(
      [
        'DELIVERED',
        'PARTIALLY_DELIVERED',
        'REFUNDED',
        'FAILED',
        'REJECTED',
        'NOT_PLACED',
        'OVERDUE',
        'CANCELLED',
        'ABANDONED',
      ].toSorted(),
    );
  });
});

async function failuresOf(code: string): Promise<{ name: string; error: string }[]> {
  const failed: { name: string; error: string }[] = [];
  const results = Worker.runReplayHistories({ workflowBundle: { code } }, recorded);
  for await (const { workflowId, error } of results) {
    const name = recorded.find((one) => one.workflowId === workflowId)?.name ?? workflowId;
    if (error) failed.push({ name, error: error.message });
  }
  return failed;
}

interface Closing {
  workflowExecutionCompletedEventAttributes?: { result?: { payloads?: { data: string }[] } };
}

function outcomeOf({ events }: { events: unknown[] }): string[] {
  const closing = (events as Closing[]).at(-1)?.workflowExecutionCompletedEventAttributes;
  const [payload] = closing?.result?.payloads ?? [];
  if (!payload) return [];
  return [(JSON.parse(Buffer.from(payload.data, 'base64').toString('utf8')) as { outcome: string }).outcome];
}
