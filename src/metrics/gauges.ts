import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { METRICS } from '../contracts/metrics';
import type { Metrics } from '../contracts/record-metrics';
import type { PartnerClient } from '../partner';
import {
  countLaterDeliveries,
  countPurchases,
  createLastReconciliationReader,
  type EndedReconciliation,
  newestOrderId,
} from '../temporal/client';

/** Every alert waits for minutes, and each worker reads for itself. */
const READ_EVERY_MS = 30_000;
/** All requests of one reading together: at the most 79 counts, five a second. */
const READ_WITHIN_MS = 60_000;
/** Polls show the account as long as somebody buys; all the same one order is read this often. */
const BALANCE_EVERY_MS = 300_000;

export interface GaugeDependencies {
  /** Of the namespace of the purchases. */
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
 * Reads what the gauges show from the Temporal server and the partner, every 30 s until the signal: a worker that has just begun shows
 * what all of them know. A reading that fails leaves the gauges and their timestamp as they are; each source is read for itself.
 */
export async function keepGauges(deps: GaugeDependencies): Promise<void> {
  const { metrics, signal } = deps;
  const failing = new Set<Source>();
  // A worker that never can read has a timestamp all the same, which grows old.
  for (const source of ['purchases', 'reconciliation'] as const) markRead(metrics, source);
  const readLastReconciliation = createLastReconciliationReader(deps.client, deps.taskQueue);
  let balanceDue = Date.now() + BALANCE_EVERY_MS;
  const tryToRead = async (source: Source, read: () => Promise<void>) => {
    try {
      await deps.client.withDeadline(Date.now() + READ_WITHIN_MS, read);
      failing.delete(source);
    } catch (error) {
      if (!failing.has(source) && !signal.aborted)
        deps.warn(`the metrics of ${source} can't be read: ${nameOf(error)}`);
      failing.add(source);
    }
  };
  while (!signal.aborted) {
    await tryToRead('purchases', () => readPurchases(deps));
    await tryToRead('reconciliation', async () => showReconciliation(metrics, await readLastReconciliation()));
    if (Date.now() >= balanceDue) {
      balanceDue = Date.now() + BALANCE_EVERY_MS;
      await tryToRead('balance', () => readBalance(deps));
    }
    await sleep(READ_EVERY_MS, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

async function readPurchases({ client, taskQueue, metrics }: GaugeDependencies): Promise<void> {
  const now = Date.now();
  const aged = METRICS.fulfilment_oldest_purchase_age_seconds.labels.state;
  for (const state of METRICS.fulfilment_running_purchases.labels.state) {
    const agedState = aged.find((one) => one === state);
    const { count, oldestMs } = await countPurchases(client, {
      taskQueue,
      state,
      now,
      withAge: agedState !== undefined,
    });
    metrics.set('fulfilment_running_purchases', count, { state });
    if (agedState) metrics.set('fulfilment_oldest_purchase_age_seconds', oldestMs / 1_000, { state: agedState });
  }
  const later = await countLaterDeliveries(client, taskQueue, now);
  metrics.set('fulfilment_later_deliveries', later.count, {});
  metrics.set('fulfilment_oldest_later_delivery_age_seconds', later.oldestMs / 1_000, {});
  markRead(metrics, 'purchases', now);
}

function showReconciliation(metrics: Metrics, last: EndedReconciliation | undefined): void {
  const { startedAt = 0, endedAt = 0, result } = last ?? {};
  metrics.set('fulfilment_last_reconciliation_timestamp_seconds', endedAt / 1_000, {});
  metrics.set('fulfilment_last_reconciliation_duration_seconds', (endedAt - startedAt) / 1_000, {});
  metrics.set('fulfilment_last_reconciliation_orders', result?.orders ?? 0, {});
  metrics.set('fulfilment_last_reconciliation_mended', result?.mended ?? 0, {});
  for (const kind of METRICS.fulfilment_last_reconciliation_findings.labels.kind) {
    metrics.set('fulfilment_last_reconciliation_findings', result?.findings[kind] ?? 0, { kind });
  }
  markRead(metrics, 'reconciliation');
}

function markRead(metrics: Metrics, source: Source, at = Date.now()): void {
  metrics.set('fulfilment_reading_timestamp_seconds', at / 1_000, { source });
}

/** The client's observer records what the order shows of the account. */
async function readBalance({ client, partner, taskQueue }: GaugeDependencies): Promise<void> {
  const orderId = await newestOrderId(client, taskQueue);
  if (orderId === undefined) return;
  const ask = { class: 'reconciliation', notAfter: Date.now() + READ_WITHIN_MS } as const;
  await partner.withPermits(ask, (permitted) => permitted.getOrder(orderId));
}

/** The message may quote what the server says, which is not ours. */
function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
