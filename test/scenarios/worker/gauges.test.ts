import { randomUUID } from 'node:crypto';
import { Client } from '@temporalio/client';
import { noopMetricMeter } from '@temporalio/common';
import { RECONCILE_NOW, RECONCILE_SCHEDULE, RECONCILE_WORKFLOW } from '../../../src/contracts/names';
import { DEFAULT_LOOKBACK_MS, type ReconciliationMemo } from '../../../src/contracts/reconciliation';
import { metricsOf } from '../../../src/contracts/metrics';
import { refreshGauges } from '../../../src/metrics';
import { reconcileNow } from '../../../src/starter/reconciliation';
import { createLastReconciliationReader } from '../../../src/temporal/client';
import { sharedEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';
import { answerWorkflowTask, completeWorkflow } from '../../support/workflow-task';

describe('the gauges of a worker that has just started', () => {
  const env = sharedEnvironment({ ownNamespace: true, pastOrders: 3, settings: { replace: 'never' } });

  /** Reads as a worker does, and stops after the first reading. @returns the last value of each gauge */
  async function readOnce({ client } = env) {
    const shown = new Map<string, number>();
    const warnings: string[] = [];
    const ending = new AbortController();
    const reading = refreshGauges({
      client,
      partner: env.partner,
      taskQueue: env.taskQueue,
      metrics: {
        ...metricsOf(noopMetricMeter),
        set: (name, value, labels) => void shown.set([name, ...Object.values(labels)].join(' '), value),
      },
      warn: (line) => void warnings.push(line),
      signal: ending.signal,
    });
    const isRead = () => shown.has('fulfilment_last_reconciliation_repaired') || warnings.length > 1;
    await waitUntil('all was read once', isRead);
    ending.abort();
    await reading;
    return { shown, warnings };
  }

  it('show the held purchases, their age and the last full reconciliation, even if another worker ran it', async () => {
    const before = await readOnce();
    expect(before.shown.get('fulfilment_running_purchases HELD')).toBe(0);
    expect(before.shown.get('fulfilment_oldest_purchase_age_seconds HELD')).toBe(0);
    expect(before.shown.get('fulfilment_last_reconciliation_timestamp_seconds')).toBe(0);

    const startedAt = Date.now();
    const held = await env.buyFacing({ operation: 'place', action: { type: 'reset' } });
    await env.untilState(held, 'HELD');
    // As a checkout in another language starts it, before a worker picks it up.
    await env.startRaw(env.reference(), { startDelay: '1 hour' });
    const { findings } = await env.reconcile();
    const endedBy = Date.now();
    await env.reconcile({ dryRun: true, lookbackMs: 60_000 });
    expect((await reconcileNow(env.client, env.taskQueue, { lookbackMs: 60_000 })).findings.ORPHAN).toBeUndefined();
    await env.untilListed("WorkflowType = 'reconcileWorkflow' AND ExecutionStatus = 'Completed'", 3);

    const { shown, warnings } = await readOnce();
    expect(warnings).toEqual([]);
    expect(shown.get('fulfilment_running_purchases HELD')).toBe(1);
    expect(shown.get('fulfilment_running_purchases PENDING')).toBe(0);
    expect(shown.get('fulfilment_running_purchases STARTED')).toBe(1);
    expect(shown.get('fulfilment_oldest_purchase_age_seconds STARTED')).toBeGreaterThan(0);
    const ageMs = (shown.get('fulfilment_oldest_purchase_age_seconds HELD') ?? 0) * 1_000;
    expect(ageMs).toBeGreaterThan(0.9 * (endedBy - startedAt));
    expect(ageMs).toBeLessThan(1.1 * (Date.now() - startedAt) + 1_000);
    const endedAt = (shown.get('fulfilment_last_reconciliation_timestamp_seconds') ?? 0) * 1_000;
    expect(endedAt).toBeGreaterThan(startedAt);
    expect(endedAt).toBeLessThanOrEqual(endedBy + 100);
    expect(shown.get('fulfilment_last_reconciliation_duration_seconds')).toBeGreaterThan(0);
    expect(findings.ORPHAN).toBeGreaterThan(0);
    expect(shown.get('fulfilment_last_reconciliation_findings ORPHAN')).toBe(findings.ORPHAN);
    expect(shown.get('fulfilment_last_reconciliation_repaired')).toBe(0);
  });

  it('show the nightly run, not later dry runs or shorter ones, until a manual run looks back as far', async () => {
    const { client } = env;
    const taskQueue = randomUUID();
    const hours = (count: number) => ({ lookbackMs: count * 3_600_000 });
    /** A run that ends at once. @param orders the number in its result */
    const ran = async (workflowId: string, shown: Partial<ReconciliationMemo>, orders: number) => {
      const memo: ReconciliationMemo = { lookbackMs: DEFAULT_LOOKBACK_MS, dryRun: false, ...shown };
      await client.workflow.start(RECONCILE_WORKFLOW, { workflowId, taskQueue, memo: { ...memo } });
      await answerWorkflowTask(client, taskQueue, completeWorkflow({ orders }));
    };
    const listed = (count: number) =>
      env.untilListed(`TaskQueue = '${taskQueue}' AND ExecutionStatus = 'Completed'`, count);
    const read = createLastReconciliationReader(client, taskQueue);
    const shown = async () => {
      const fresh = createLastReconciliationReader(client, taskQueue);
      return [(await read())?.result.orders, (await fresh())?.result.orders];
    };

    await ran(RECONCILE_NOW, hours(24), 1);
    await listed(1);
    expect(await shown()).toEqual([1, 1]);
    await ran(`${RECONCILE_SCHEDULE}-2026-11-22T03:00:00Z`, hours(72), 2);
    await ran(RECONCILE_NOW, hours(24), 3);
    for (let run = 0; run < 55; run += 1) await ran(RECONCILE_NOW, run % 2 ? hours(1) : { dryRun: true }, 4);
    await listed(58);
    expect(await shown()).toEqual([2, 2]);
    await ran(RECONCILE_NOW, {}, 5);
    await listed(59);
    expect(await shown()).toEqual([5, 5]);
  });

  it('export no values but their time when the server cannot be reached, so the time shows that they are out of date', async () => {
    const startedAt = Date.now();
    const client = new Client({ connection: env.client.connection, namespace: 'a-namespace-that-is-not-there' });
    const { shown, warnings } = await readOnce({ ...env, client });
    const times = ['purchases', 'reconciliation'].map((source) => `fulfilment_reading_timestamp_seconds ${source}`);
    expect([...shown.keys()]).toEqual(times);
    const now = Date.now();
    for (const at of shown.values()) {
      expect(at * 1_000).toBeGreaterThan(startedAt - 1);
      expect(at * 1_000).toBeLessThanOrEqual(now);
    }
    expect(warnings).toEqual([
      expect.stringMatching(/^the metrics of purchases can't be read: /),
      expect.stringMatching(/^the metrics of reconciliation can't be read: /),
    ]);
  });
});
