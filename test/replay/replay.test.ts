import { readFileSync } from 'node:fs';
import * as workflows from '../../src/workflows';
import { WORKFLOW_BUNDLE } from '../support/worker';
import { type RecordedHistory, recordedHistories, replay } from './histories';

const recorded = recordedHistories();
const BUNDLE = readFileSync(WORKFLOW_BUNDLE, 'utf8');

describe('purchases that were recorded run the same way with the workflows of today', () => {
  it('replays each of them without a non-determinism: a deploy breaks no purchase that is under way', async () => {
    expect(await replay(BUNDLE, recorded)).toEqual({ count: recorded.length, failed: [] });
    expect(recorded.length).toBeGreaterThan(20);
  }, 120_000);

  it('and with a traced start: the trace header that activities then get is no non-determinism', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    for (const header of [json({ traceparent }), json({ traceparent: 'x' }), json(null), { data: base64('{') }]) {
      const traced = recorded.map((one) => startedWith(one, { fields: { '_tracer-data': header } }));
      expect(await replay(BUNDLE, traced)).toEqual({ count: recorded.length, failed: [] });
    }
  }, 120_000);

  it('would see a workflow that asks for another activity', async () => {
    const changed = BUNDLE.replaceAll('awaitOrderChange', 'awaitAnotherChange');
    expect(changed).not.toBe(BUNDLE);
    const { failed } = await replay(changed, recorded);
    const overdue = recorded.find(({ name }) => name === 'overdue')?.workflowId;
    expect(failed.map(({ workflowId }) => workflowId)).toContain(overdue);
  }, 120_000);

  it('holds at least one run of each workflow, because any of them may be open at a deploy', () => {
    const types = new Set(recorded.map(({ history }) => typeOf(history)));
    expect([...types].toSorted()).toEqual(Object.keys(workflows).toSorted());
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

interface Opening {
  workflowExecutionStartedEventAttributes?: { workflowType?: { name: string }; header?: object };
}

function startedWith({ workflowId, history }: RecordedHistory, header: object) {
  const [start, ...rest] = history.events as [Opening, ...unknown[]];
  const workflowExecutionStartedEventAttributes = { ...start.workflowExecutionStartedEventAttributes, header };
  return { workflowId, history: { events: [{ ...start, workflowExecutionStartedEventAttributes }, ...rest] } };
}

function json(value: unknown) {
  return { metadata: { encoding: base64('json/plain') }, data: base64(JSON.stringify(value)) };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

function typeOf({ events }: { events: unknown[] }): string | undefined {
  return (events as Opening[])[0]?.workflowExecutionStartedEventAttributes?.workflowType?.name;
}

interface Closing {
  workflowExecutionCompletedEventAttributes?: { result?: { payloads?: { data?: string }[] } };
}

function outcomeOf({ events }: { events: unknown[] }): string[] {
  const closing = (events as Closing[]).at(-1)?.workflowExecutionCompletedEventAttributes;
  const data = closing?.result?.payloads?.[0]?.data;
  const result = data && (JSON.parse(Buffer.from(data, 'base64').toString('utf8')) as { outcome?: string });
  return result && result.outcome ? [result.outcome] : [];
}
