import type { Client } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger, type LogEntry } from '@temporalio/worker';
import { createCircuitBreaker } from '../../../src/activities/circuit-breaker';
import type { ActivityDependencies } from '../../../src/activities/dependencies';
import { createPlaceOrderActivities } from '../../../src/activities/place-order';
import type { PlaceOrderInput } from '../../../src/contracts/activities';
import type { PartnerClient } from '../../../src/partner';
import type { PurchaseReader } from '../../../src/temporal/client';
import { startServer } from '../../support/http-server';
import { FAST } from '../../support/settings';
import { clientOf, envelope } from '../partner/fixtures';

const EMPTY_HISTORY = { json: envelope({ hits: 0, orders: [], pages: { page: 1, total: 1, limit: 500 } }) };
const MAX_AGE_MS = 4_000;
const TIMEOUT_MS = 2_000;
/** Longer than the attempt and its request together, so that every timer that could end them is due afterwards. */
const FROZEN_MS = MAX_AGE_MS + TIMEOUT_MS + 2_000;

describe('a placement attempt', () => {
  it('has an unknown outcome if its process froze after the write, although all of its timers are due at once', async () => {
    const server = await startServer({
      respond: ({ method }) => {
        if (method === 'GET') return EMPTY_HISTORY;
        freeze(FROZEN_MS);
        return 'hang';
      },
    });
    const partner = clientOf(server.url, { timeoutMs: TIMEOUT_MS });
    expect(await placeOrder({ partner })).toMatchObject({ evidence: 'UNKNOWN' });
    expect(server.received.map(({ method }) => method)).toEqual(['GET', 'POST']);
  });

  it('waits no longer than the timeout with which its purchase started, because the confirmation counts on it', async () => {
    const server = await startServer({ respond: ({ method }) => (method === 'GET' ? EMPTY_HISTORY : 'hang') });
    const partner = clientOf(server.url, { timeoutMs: 3_600_000 });
    expect(await placeOrder({ partner }, { partnerTimeoutMs: 100 })).toMatchObject({ evidence: 'UNKNOWN' });
  });

  it('sends nothing to the partner before its purchase is listed, if the start did not reject duplicates', async () => {
    const server = await startServer({ respond: () => EMPTY_HISTORY });
    const partner = clientOf(server.url, { timeoutMs: TIMEOUT_MS });
    const hasOtherExecution = async () => undefined;
    const placing = placeOrder(
      { partner, purchases: { hasOtherExecution } },
      { startedWithRejectDuplicate: false, maxAgeMs: 10_000 },
    );
    expect(await placing).toMatchObject({ evidence: 'NOT_SENT' });
    expect(server.received).toEqual([]);
  });

  it('says that it is the only execution, except after the decision to place the order again, which skips the check', async () => {
    const server = await startServer({ respond: ({ method }) => (method === 'GET' ? EMPTY_HISTORY : { status: 422 }) });
    const partner = clientOf(server.url, { timeoutMs: TIMEOUT_MS });
    const replaceInRun = new MockActivityEnvironment().context.info.workflowExecution?.runId ?? '';
    expect(await placeOrder({ partner })).toMatchObject({ evidence: 'ORDER_REJECTED', isOnlyExecution: true });
    expect(await placeOrder({ partner }, { replaceInRun })).toMatchObject({ isOnlyExecution: false });
  });
});

it('after the decision to place again, an unreadable row of this reference stops no request, unless one may have been sent since', async () => {
  const orders = [{ id: 'o-1', reference_id: 'REF-1', status: null, created_at: null }];
  const history = { json: envelope({ hits: 1, orders, pages: { page: 1, total: 1, limit: 500 } }) };
  const server = await startServer({ respond: ({ method }) => (method === 'GET' ? history : { status: 422 }) });
  const partner = clientOf(server.url, { timeoutMs: TIMEOUT_MS });
  const replaceInRun = new MockActivityEnvironment().context.info.workflowExecution?.runId ?? '';
  const sent = await placeOrder({ partner }, { replaceInRun, sentSinceReplace: false });
  expect(sent).toMatchObject({ evidence: 'ORDER_REJECTED' });
  for (const change of [{ replaceInRun, sentSinceReplace: true }, {}])
    expect(await placeOrder({ partner }, change)).toMatchObject({ evidence: 'FENCED' });
  expect(server.received.filter(({ method }) => method === 'POST')).toHaveLength(1);
});

describe('the log line of an attempt without an order', () => {
  const trace_id = 'a'.repeat(32);

  it.each([
    [422, 'ORDER_REJECTED', 'the partner rejected the order'],
    [409, 'CONFLICT', 'the partner reports that the order already exists'],
    [500, 'ERROR_RESPONSE', 'the partner responded with an error, and may still have placed the order'],
  ])('fits the evidence of %i, %s: %s', async (status, evidence, message) => {
    const json = envelope({}, { details: { extensions: { trace_id } } });
    const server = await startServer({
      respond: ({ method }) => (method === 'GET' ? EMPTY_HISTORY : { status, json }),
    });
    const lines: LogEntry[] = [];
    const logger = new DefaultLogger('WARN', (entry) => lines.push(entry));
    await placeOrder({ partner: clientOf(server.url, { timeoutMs: TIMEOUT_MS }), logger });
    const isRejection = status !== 500;
    const reason = `the partner returned ${status}${isRejection ? `, trace id ${trace_id}` : ''}`;
    expect(lines).toMatchObject([{ level: 'WARN', message, meta: { evidence, reason } }]);
  });
});

interface Parts {
  logger?: DefaultLogger;
  partner: PartnerClient;
  purchases?: Pick<PurchaseReader, 'hasOtherExecution'>;
}

/** Runs the activity with a Temporal client that accepts every heartbeat. */
function placeOrder(
  { partner, purchases, logger = new DefaultLogger('ERROR') }: Parts,
  change: Partial<PlaceOrderInput> = {},
) {
  const client = {
    withDeadline: (_: number, call: () => Promise<void>) => call(),
    activity: { heartbeat: async () => undefined },
  } as unknown as Client;
  const settings = { ...FAST, partnerTimeoutMs: TIMEOUT_MS };
  const circuitBreaker = createCircuitBreaker({ firstDelayMs: 1, maxDelayMs: 1 });
  const deps = { partner, client, settings, circuitBreaker, purchases, now: Date.now };
  const activities = createPlaceOrderActivities(deps as unknown as ActivityDependencies);
  const dispatched = Date.now();
  const info = { attempt: 1, scheduledTimestampMs: dispatched, currentAttemptScheduledTimestampMs: dispatched };
  const environment = new MockActivityEnvironment(info, { logger });
  const firstRunId = environment.context.info.workflowExecution?.runId ?? '';
  return environment.run(activities.placeOrder, {
    referenceId: 'REF-1',
    items: [{ productId: 'P-1', quantity: 1 }],
    purchaseStartedAt: dispatched,
    firstRunId,
    startedWithRejectDuplicate: true,
    requestMayHaveBeenSent: false,
    fingerprintSecretId: 'k',
    maxAgeMs: MAX_AGE_MS,
    partnerTimeoutMs: TIMEOUT_MS,
    ...change,
  });
}

/** Blocks the process like SIGSTOP and SIGCONT: no timer and no response is handled meanwhile. */
function freeze(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
