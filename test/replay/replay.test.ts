import { readFileSync } from 'node:fs';
import { PURCHASE_OUTCOMES } from '../../src/domain/purchase-state';
import * as workflows from '../../src/workflows';
import { WORKFLOW_BUNDLE } from '../support/worker';
import { type RecordedHistory, recordedHistories, replay } from './histories';

const recorded = recordedHistories();
const BUNDLE = readFileSync(WORKFLOW_BUNDLE, 'utf8');

describe('recorded histories, replayed with the current workflows', () => {
  it('replay without a non-determinism error, so that a deploy does not break a running purchase', async () => {
    expect(await replay(BUNDLE, recorded)).toEqual({ count: recorded.length, failed: [] });
    expect(recorded.length).toBeGreaterThan(20);
  });

  it('replay with a traced start, because the trace header of activities must not cause a non-determinism error', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    for (const header of [json({ traceparent }), json({ traceparent: 'x' }), json(null), { data: base64('{') }]) {
      const traced = recorded.map((one) => startedWith(one, { fields: { '_tracer-data': header } }));
      expect(await replay(BUNDLE, traced)).toEqual({ count: recorded.length, failed: [] });
    }
  });

  it('fail to replay if a workflow schedules a different activity', async () => {
    const changed = BUNDLE.replaceAll('pollUntilEnded', 'pollUntilChanged');
    expect(changed).not.toBe(BUNDLE);
    const { failed } = await replay(changed, recorded);
    const overdue = recorded.find(({ name }) => name === 'overdue')?.workflowId;
    expect(failed.map(({ workflowId }) => workflowId)).toContain(overdue);
  });

  it('cover each workflow and each outcome, because any of them may be open during a deploy', () => {
    const events = recorded.flatMap(({ history }) => history.events);
    const types = events.map((event) => event.workflowExecutionStartedEventAttributes?.workflowType.name);
    expect(new Set(types.filter(Boolean))).toEqual(new Set(Object.keys(workflows)));

    const payloads = events.flatMap((event) => event.workflowExecutionCompletedEventAttributes?.result.payloads ?? []);
    const results = payloads.map(({ data }) => JSON.parse(Buffer.from(data, 'base64').toString()) as Result | null);
    const outcomes = results.map((result) => result?.outcome);
    expect(new Set(outcomes.filter(Boolean))).toEqual(new Set(PURCHASE_OUTCOMES));
  });
});

interface Result {
  outcome?: string;
}

function startedWith({ workflowId, history }: RecordedHistory, header: object) {
  const [start, ...rest] = history.events;
  const workflowExecutionStartedEventAttributes = { ...start!.workflowExecutionStartedEventAttributes, header };
  return { workflowId, history: { events: [{ ...start, workflowExecutionStartedEventAttributes }, ...rest] } };
}

function json(value: unknown) {
  return { metadata: { encoding: base64('json/plain') }, data: base64(JSON.stringify(value)) };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
