import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { METRICS, type Metrics } from '../contracts/metrics';
import { errorName } from '../domain/safe-values';
import type { PartnerClient } from '../partner';
import {
  countListed,
  createLastReconciliationReader,
  type EndedReconciliation,
  newestOrderId,
  oldestAge,
  runningDeliveries,
  runningPurchases,
} from '../temporal/client';

/** Not more often, because every worker reads these, and alerts wait for minutes anyway. */
const READ_EVERY_MS = 30_000;
/** The limit for all requests of one reading: at most 79 counts, five a second. */
const READ_WITHIN_MS = 60_000;
/** Polls also show the balance. This reading keeps it fresh when there are no purchases. */
const BALANCE_EVERY_MS = 300_000;

export interface GaugeDependencies {
  /** For the namespace of the purchases. */
  client: Client;
  partner: PartnerClient;
  taskQueue: string;
  metrics: Metrics;
  warn(line: string): void;
  /** Ends the reading. */
  signal: AbortSignal;
}

type Source = (typeof METRICS)['fulfilment_reading_timestamp_seconds']['labels']['source'][number];

/**
 * Reads the gauges from the Temporal server and the partner every 30 s until the signal, so every worker exports the
 * same values. A failed reading of a source leaves its gauges and their timestamp unchanged.
 */
export async function refreshGauges(deps: GaugeDependencies): Promise<void> {
  const { client, metrics, signal } = deps;
  const readLastReconciliation = createLastReconciliationReader(client, deps.taskQueue);
  const failing = new Set<Source>();
  const tryToRead = async (source: Source, read: () => Promise<void>) => {
    const startedAt = Date.now();
    try {
      await client.withDeadline(startedAt + READ_WITHIN_MS, read);
      failing.delete(source);
      if (source !== 'balance') markRead(metrics, source, startedAt);
    } catch (error) {
      if (!failing.has(source) && !signal.aborted)
        deps.warn(`the metrics of ${source} can't be read: ${errorName(error)}`);
      failing.add(source);
    }
  };
  // A worker that can never read also needs a timestamp, so that the age of the timestamp raises the alert.
  for (const source of ['purchases', 'reconciliation'] as const) markRead(metrics, source, Date.now());
  for (let round = 1; !signal.aborted; round++) {
    await tryToRead('purchases', () => readPurchases(deps));
    await tryToRead('reconciliation', async () => exportReconciliation(metrics, await readLastReconciliation()));
    if (round % (BALANCE_EVERY_MS / READ_EVERY_MS) === 0) await tryToRead('balance', () => readBalance(deps));
    await sleep(READ_EVERY_MS, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

async function readPurchases({ client, taskQueue, metrics }: GaugeDependencies): Promise<void> {
  const aged = METRICS.fulfilment_oldest_purchase_age_seconds.labels.state;
  const oldestSeconds = async (filter: string, count: number) =>
    count === 0 ? 0 : (await oldestAge(client, filter, Date.now())) / 1_000;
  for (const state of METRICS.fulfilment_running_purchases.labels.state) {
    const filter = runningPurchases(taskQueue, state);
    const count = await countListed(client, filter);
    metrics.set('fulfilment_running_purchases', count, { state });
    const agedState = aged.find((one) => one === state);
    if (!agedState) continue;
    const age = await oldestSeconds(filter, count);
    metrics.set('fulfilment_oldest_purchase_age_seconds', age, { state: agedState });
  }
  const deliveries = runningDeliveries(taskQueue);
  const count = await countListed(client, deliveries);
  metrics.set('fulfilment_late_deliveries', count, {});
  metrics.set('fulfilment_oldest_late_delivery_age_seconds', await oldestSeconds(deliveries, count), {});
}

function exportReconciliation(metrics: Metrics, last: EndedReconciliation | undefined): void {
  const { startedAt = 0, endedAt = 0, result } = last ?? {};
  metrics.set('fulfilment_last_reconciliation_timestamp_seconds', endedAt / 1_000, {});
  metrics.set('fulfilment_last_reconciliation_duration_seconds', (endedAt - startedAt) / 1_000, {});
  metrics.set('fulfilment_last_reconciliation_orders', result?.orders ?? 0, {});
  metrics.set('fulfilment_last_reconciliation_repaired', result?.repaired ?? 0, {});
  for (const kind of METRICS.fulfilment_last_reconciliation_findings.labels.kind) {
    metrics.set('fulfilment_last_reconciliation_findings', result?.findings[kind] ?? 0, { kind });
  }
}

function markRead(metrics: Metrics, source: Source, at: number): void {
  metrics.set('fulfilment_reading_timestamp_seconds', at / 1_000, { source });
}

/** Reads an order. The partner client's observer then records the balance that it contains. */
async function readBalance({ client, partner, taskQueue }: GaugeDependencies): Promise<void> {
  const orderId = await newestOrderId(client, taskQueue);
  if (orderId === undefined) return;
  const permits = { class: 'reconciliation', notAfter: Date.now() + READ_WITHIN_MS } as const;
  await partner.withPermits(permits, (permitted) => permitted.getOrder(orderId));
}
