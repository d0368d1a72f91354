import { activityInfo, log } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import type {
  ReconcileOrdersInput,
  ReconciliationResult,
  ReconcileActivities,
  ReportedFinding,
} from '../../contracts/reconciliation';
import { FAILURE } from '../../contracts/failures';
import type { PurchaseSettings } from '../../contracts/purchase';
import { CLOCK_TOLERANCE_MS } from '../../domain/clock-tolerance';
import {
  type PartnerOrder,
  type Finding,
  findingKey,
  reconcile,
  type ReconcileOptions,
  type KnownPurchase,
} from '../../domain/reconciliation/index';
import { isPartnerError, type PartnerClient, withRetry } from '../../partner/index';
import { writeReport } from '../../report/index';
import { readRetentionMs } from '../../temporal/client';
import { failure, toFailure } from '../failures';
import type { ActivityDependencies } from '../index';
import { confirm, type Records, recordsOf } from './confirm';
import { handleFinding, type RepairContext } from './repair';
import { readOrderHistory } from './order-history';
import { inParallel } from './in-parallel';
import { openProgress, type Progress } from './progress';
import { type LaterDeliveries, listLaterDeliveries, listPurchases } from './purchase-lists';
import { reportOf } from './report-input';
import { createPollOrderActivities } from '../poll-order';

/** What a reconciliation works with beside the other activities. */
export interface ReconcileDependencies extends ActivityDependencies {
  client: Client;
  /** The folder for the reports. */
  reportDir: string;
}

const DAY_MS = 24 * 3_600_000;
const WIDTH = 12;
const SHOWN = 200;
const MOST_ORPHANS_CONFIRMED = 500;

/** Compares the books of both sides. Nothing here ever buys. */
export function createReconcileActivities(deps: ReconcileDependencies): ReconcileActivities {
  return {
    async reconcileOrders(input) {
      const progress = openProgress();
      try {
        return await runReconciliation(deps, input, progress);
      } catch (error) {
        progress.signal.throwIfAborted();
        throw isPartnerError(error) ? toFailure(error) : error;
      } finally {
        progress.close();
      }
    },
  };
}

async function runReconciliation(
  deps: ReconcileDependencies,
  window: ReconcileOrdersInput,
  progress: Progress,
): Promise<ReconciliationResult> {
  await refuseLongLookback(deps.client, window);
  const { books, later } = await readRecords(deps, window, progress);
  const options = { ...optionsOf(deps, window), later };
  const suggested = reconcile(books.orders, books.purchases, options);
  const findings = await handleAll(deps, { books, suggested, options, window }, progress);

  const inWindow = books.orders.filter((order) => order.createdAt >= window.from);
  const report = reportOf({ ...window, runId: ownRunId(), now: deps.now(), findings, ...books, orders: inWindow });
  progress.show('writing the report', { findings: findings.length });
  const { html } = await writeReport(deps.reportDir, report);
  log.info('reconciled', { orders: inWindow.length, findings: findings.length, mended: report.mended });
  return {
    from: report.from,
    to: report.to,
    orders: inWindow.length,
    findings: countsOf(findings),
    details: findings.slice(0, SHOWN),
    mended: report.mended,
    report: html,
  };
}

/** Beyond the retention the namespace has forgotten its purchases, and every order would look like nobody's. */
async function refuseLongLookback(client: Client, { from, to }: ReconcileOrdersInput): Promise<void> {
  const retentionMs = await readRetentionMs(client);
  if (to - from <= retentionMs - DAY_MS) return;
  const asked = `a look-back of ${hours(to - from)}`;
  const message = `${asked} is longer than the retention of namespace ${client.options.namespace} less a day (${hours(retentionMs)} - 24 h)`;
  throw failure(FAILURE.lookbackTooLong, message, { final: true });
}

async function readRecords(
  deps: ReconcileDependencies,
  { from }: ReconcileOrdersInput,
  progress: Progress,
): Promise<{ books: Records; later: LaterDeliveries }> {
  const history = await readOrderHistory(deps.partner, from - CLOCK_TOLERANCE_MS, progress);
  const orders = history.filter((order) => order.createdAt >= from - CLOCK_TOLERANCE_MS);
  const later = await listLaterDeliveries(deps.purchases, ownRunId());
  const purchases = await listPurchases(deps.purchases, { from, orders, later }, progress);
  const followed = await readFollowedOrders(deps.partner, { orders, purchases, from }, progress);
  return { books: recordsOf([...orders, ...followed], purchases), later };
}

/** The orders of older purchases that may still come to something: they are asked for one by one. */
async function readFollowedOrders(
  partner: PartnerClient,
  { orders, purchases, from }: { orders: readonly PartnerOrder[]; purchases: readonly KnownPurchase[]; from: number },
  progress: Progress,
): Promise<PartnerOrder[]> {
  const known = new Set(orders.map((order) => order.id));
  const older = purchases.filter(
    ({ orderId, startedAt, ordered = Infinity, delivered = 0 }) =>
      orderId !== undefined && !known.has(orderId) && startedAt < from && delivered < ordered,
  );
  const looks = await inParallel(older, 1, async ({ orderId = '', referenceId, startedAt }) => {
    progress.show('looking at older orders', { of: older.length });
    try {
      const { data } = await withRetry(progress.signal, () => partner.getOrder(orderId));
      return [{ id: orderId, referenceId, status: data.status, createdAt: startedAt }];
    } catch (error) {
      if (isPartnerError(error) && error.kind === 'not-found') return [];
      throw error;
    }
  });
  return looks.flat();
}

function optionsOf(deps: ReconcileDependencies, { from }: ReconcileOrdersInput): ReconcileOptions {
  const now = deps.now();
  return { now, from, settledBefore: now - settlingMs(deps.settings), stuckAfterMs: DAY_MS };
}

/** An attempt at a placement and its settling. What is younger may still be under way. */
function settlingMs({ settleMs, partnerTimeoutMs }: PurchaseSettings): number {
  return 2 * (settleMs + partnerTimeoutMs);
}

interface HandlingInput {
  books: Records;
  suggested: readonly Finding[];
  options: ReconcileOptions & { later: LaterDeliveries };
  window: ReconcileOrdersInput;
}

async function handleAll(
  deps: ReconcileDependencies,
  { books, suggested, options, window }: HandlingInput,
  progress: Progress,
): Promise<ReportedFinding[]> {
  const context: RepairContext = {
    ...deps,
    taskQueue: activityInfo().taskQueue,
    getOrder: createPollOrderActivities(deps).getOrder,
    signal: progress.signal,
    runId: ownRunId(),
    dryRun: window.dryRun,
  };
  const isTrusted = trustBeyond(MOST_ORPHANS_CONFIRMED);
  let handled = 0;
  const findings = await inParallel(suggested, WIDTH, async (finding) => {
    progress.signal.throwIfAborted();
    const confirmed = isTrusted(finding)
      ? { finding, orders: [] }
      : await confirm(deps.purchases, books, finding, options);
    handled += 1;
    progress.show('confirming and mending', { done: handled, of: suggested.length });
    if (!confirmed) return undefined;
    if (options.later.told.has(findingKey(finding))) return { ...confirmed.finding, done: 'notified' as const };
    return handleFinding(context, confirmed);
  });
  return findings.filter((finding) => finding !== undefined);
}

/** Nothing is done about an order of nobody, so that beyond some hundred of them the lists are believed. */
function trustBeyond(count: number): (finding: Finding) => boolean {
  let asked = 0;
  return ({ kind }) => {
    if (kind === 'ORPHAN') asked += 1;
    return kind === 'ORPHAN' && asked > count;
  };
}

function countsOf(findings: readonly Finding[]): ReconciliationResult['findings'] {
  const counts: ReconciliationResult['findings'] = {};
  for (const { kind } of findings) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

function ownRunId(): string {
  return activityInfo().workflowExecution?.runId ?? '';
}

function hours(ms: number): string {
  return `${Math.round(ms / 3_600_000)} h`;
}
