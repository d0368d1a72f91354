import { jsonLine, prettyLine } from '../../../src/temporal/worker/log-lines';

type Entry = Parameters<typeof prettyLine>[0];

/** What the SDK adds to each line of an activity. */
const SDK = {
  sdkComponent: 'worker',
  isLocal: false,
  attempt: 1,
  namespace: 'default',
  taskToken: 'CiQ5ZGY4YjA0',
  workflowId: 'purchase-SALE-1',
  workflowRunId: '019a-run',
  workflowType: 'purchaseWorkflow',
  activityId: '1',
  activityType: 'placeOrder',
  taskQueue: 'fulfilment',
};

function entry(message: string, meta: Record<string, unknown> = {}): Entry {
  return { level: 'WARN', message, timestampNanos: 1_767_225_600_123_000_000n, meta: { ...SDK, ...meta } } as Entry;
}

describe('a pretty line', () => {
  it('has the time of day, the message and its subject, but no ids of the SDK', () => {
    const reason = 'placeOrder: the partner returned 422';
    expect(prettyLine(entry('the partner rejected the order', { evidence: 'ORDER_REJECTED', reason }))).toBe(
      `00:00:00.123 WARN  the partner rejected the order referenceId=SALE-1 evidence=ORDER_REJECTED reason="${reason}"`,
    );
    expect(prettyLine(entry('once more', { attempt: 3 }))).toContain(' attempt=3');
  });

  it('is one line, whatever the message, an error or text from the partner contains', () => {
    const hostile = 'a\n12:00:00.000 INFO  forged\u001B[2J';
    const line = prettyLine(entry(hostile, { error: new Error(hostile), reason: hostile, list: [hostile] }));
    expect(line).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
  });
});

it('a JSON line has every field for programs, except those that only the SDK needs', () => {
  const { taskToken: _, isLocal: __, ...rest } = SDK;
  const line = JSON.parse(jsonLine(entry('a message'))) as unknown;
  const time = '2026-01-01T00:00:00.123Z';
  expect(line).toEqual({ time, level: 'warn', message: 'a message', referenceId: 'SALE-1', ...rest });
});
