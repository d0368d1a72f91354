import { activityInfo, log } from '@temporalio/activity';
import { FAILURE } from '../../contracts/failures';
import { RECONCILE_SCHEDULE } from '../../contracts/names';
import type {
  ReconcileActivities,
  ReconcileOrdersInput,
  ReconciliationResult,
  ReportedFinding,
} from '../../contracts/reconciliation';
import { groupBy } from '../../domain/group-by';
import { REFERENCE_PATTERN } from '../../domain/order';
import { errorName, safeErrorCode } from '../../domain/safe-values';
import { type Finding, findingKey, withStatus } from '../../domain/reconciliation/finding';
import { inReportOrder, reconcile } from '../../domain/reconciliation/reconcile';
import { indexRecords, type UnreadableRecord } from '../../domain/reconciliation/records';
import { workflowsUrl } from '../../domain/ui-links';
import { type ReconciliationReport, reportOf, writeReport } from '../../report';
import { isScheduled, lookbackIssue, reachOf } from '../../temporal/client';
import { minFindingAgeMs } from '../../workflows/policies';
import type { ActivityDependencies } from '../dependencies';
import { failure, toFailure } from '../failures';
import { inParallel } from '../in-parallel';
import { openProgress, type Progress } from '../progress';
import { recheckFinding, type ReconcileContext } from './recheck-finding';
import { orderRetry, readRecords } from './read-records';
import { handleFinding, postNotice, withFewIds } from './repair';

/** What the reconciliation needs in addition to what all activities need. */
export interface ReconcileDependencies extends ActivityDependencies {
  /** The folder for the reports. */
  reportDir: string;
  /** The base URL of the Temporal UI. Without it, the reports have no links. */
  temporalUiUrl?: string | undefined;
}

/** How many findings are handled at once. */
const PARALLEL = 12;
const MAX_ORPHANS_RECHECKED = 500;
const MAX_START_MS = 3_600_000;

/** Compares the partner's orders with the purchases in Temporal and repairs what it can. It never places an order. */
export function createReconcileActivities(deps: ReconcileDependencies): ReconcileActivities {
  return {
    async reconcileOrders(input) {
      validateWindow(input);
      const progress = openProgress();
      try {
        const permits = { class: 'reconciliation', signal: progress.signal } as const;
        return await deps.partner.withPermits(permits, (partner) =>
          runReconciliation({ ...deps, partner }, input, progress),
        );
      } catch (error) {
        progress.signal.throwIfAborted();
        throw toFailure(error);
      } finally {
        progress.close();
      }
    },
  };
}

async function runReconciliation(
  deps: ReconcileDependencies,
  input: ReconcileOrdersInput,
  progress: Progress,
): Promise<ReconciliationResult> {
  const { dryRun } = input;
  const { signal } = progress;
  const lookbackMs = lookbackOf(input);
  const issue = await lookbackIssue(deps.client, lookbackMs);
  if (issue !== undefined) throw failure(FAILURE.lookbackTooLong, issue, { final: true });
  const { from, lastAt = from } = await reachBack(deps, input, lookbackMs);
  // Taken before the first page, because reading may take hours. The next run handles what starts or ends after this.
  const now = deps.now();
  const options = { now, from, recentSince: now - minFindingAgeMs(deps.settings) };
  const { orders, purchases, unreadable, lateDeliveries } = await readRecords(deps, options, progress);
  const unread = lastAt < from ? [unreadTime(lastAt, from)] : [];
  const records = indexRecords(orders, purchases, [...unreadable, ...unread]);
  const context = {
    ...deps,
    records,
    options,
    lateDeliveries,
    retry: orderRetry(signal),
    dryRun,
    notices: { count: 0 },
  };
  const findings = await handleFindings(context, reconcile(records, options), progress);

  const report = reportOf({ ...input, from, ...ownRun(), ...uiOf(deps), now: deps.now(), records, findings });
  progress.show('writing the report', { findings: findings.length });
  const written = await tryToWrite(deps.reportDir, report);
  const { repaired } = report;
  log.info('reconciled', { orders: report.orders, findings: findings.length, repaired });
  const hasGaps = unreadable.some(({ what }) => what === 'history') || undefined;
  const result = {
    from: report.from,
    to: report.to,
    orders: report.orders,
    hasGaps,
    repaired,
    report: written,
    findings: countsOf(findings),
    details: detailsOf(findings),
  };
  if (!dryRun) await notifyCompleted({ ...context, notices: { count: 0 } }, result);
  return result;
}

/** A run by hand reads exactly its lookback. */
async function reachBack({ client }: ReconcileDependencies, { from }: ReconcileOrdersInput, lookbackMs: number) {
  if (!isScheduled(ownRun().workflowId)) return { from, lastAt: from };
  return reachOf(client, { from, lookbackMs });
}

function unreadTime(lastAt: number, from: number): UnreadableRecord {
  const [begin, end] = [lastAt, from].map((time) => new Date(time).toISOString());
  return { what: 'time', reason: `no scheduled reconciliation has completely read the orders from ${begin} to ${end}` };
}

/**
 * How far the reconciliation looks back from the server's current time, in ms. A reset run keeps the window of the
 * first run, which may be long ago. The start of a run may take up to an hour, which the day's margin of the guard
 * covers.
 */
function lookbackOf({ from, to }: ReconcileOrdersInput): number {
  const { scheduledTimestampMs } = activityInfo();
  return scheduledTimestampMs - to > MAX_START_MS ? scheduledTimestampMs - from : to - from;
}

/** Checks each suggested finding again, drops findings that no longer hold, and repairs the others if allowed. */
async function handleFindings(
  context: ReconcileContext,
  suggested: readonly Finding[],
  { signal, show }: Progress,
): Promise<ReportedFinding[]> {
  // Orphans are only reported, so after the first few hundred the list is trusted. Unreadable records have already
  // been read twice.
  let orphans = 0;
  const isTrusted = ({ kind }: Finding) =>
    kind === 'UNREADABLE' || (kind === 'ORPHAN' && ++orphans > MAX_ORPHANS_RECHECKED);
  const byTrust = groupBy(suggested, isTrusted);
  const [trusted, doubtful] = [byTrust.get(true) ?? [], byTrust.get(false) ?? []];
  // Two suggestions may lead to the same finding. Disappeared keys, for example, show only when an order is read.
  const known = new Set<string>();
  const isNew = ({ finding }: { finding: Finding }) => {
    const before = known.size;
    return known.add(findingKey(finding)).size > before;
  };
  const findings = trusted.map((finding) => withStatus(finding, context.dryRun ? 'dry-run' : 'unrepaired'));
  let handled = trusted.length;
  await inParallel(doubtful, PARALLEL, async (finding) => {
    signal.throwIfAborted();
    const rechecked = (await recheckFinding(context, finding)).filter(isNew);
    show('checking again and repairing', { done: ++handled, of: suggested.length });
    for (const one of rechecked) {
      const reported = await handleFinding(context, one);
      if (reported) findings.push(reported);
    }
  });
  return inReportOrder(findings);
}

/** If the checkout is down, the reconciliation does not fail. */
async function notifyCompleted(
  context: ReconcileContext,
  { from, to, orders, repaired, report, findings }: ReconciliationResult,
): Promise<void> {
  const details = { from, to, orders, repaired, report, ...findings };
  const { workflowId, runId } = ownRun();
  // Any client can start a reconciliation under any id.
  const referenceId = REFERENCE_PATTERN.test(workflowId) ? workflowId : RECONCILE_SCHEDULE;
  const data = { referenceId, kind: 'RECONCILIATION', details };
  const reason = await postNotice(context, 'reconciliation.completed', runId, data);
  if (reason !== undefined) log.warn('the checkout did not accept reconciliation.completed', { reason });
}

/**
 * A report that can't be written must not fail the reconciliation, because a retry would read everything again, for
 * hours.
 * @returns the path of the HTML report, or the reason why there is none
 */
async function tryToWrite(dir: string, report: ReconciliationReport): Promise<string> {
  try {
    return (await writeReport(dir, report)).html;
  } catch (error) {
    const reason = safeErrorCode(error) ?? errorName(error);
    log.error('the report could not be written', { reason });
    return `not written: REPORT_DIR can't be written (${reason})`;
  }
}

/**
 * A workflow of another version may omit a number, which would become NaN. Every comparison with NaN is false, so the
 * report would show no findings at all.
 */
function validateWindow(input: ReconcileOrdersInput): void {
  const { from, to, dryRun, timeZone } = input ?? {};
  const areNumbers = [from, to].every(Number.isFinite) && from < to;
  if (areNumbers && typeof dryRun === 'boolean' && typeof timeZone === 'string') return;
  const expected =
    'expected {from, to, dryRun, timeZone} from a workflow of this version: start the reconciliation again';
  throw failure(FAILURE.invalidReconciliation, expected, { final: true });
}

function countsOf(findings: readonly Finding[]): ReconciliationResult['findings'] {
  return Object.fromEntries([...groupBy(findings, ({ kind }) => kind)].map(([kind, { length }]) => [kind, length]));
}

/** The limits for findings in the workflow's result. Temporal accepts 2 MiB and warns from 512 KiB. */
const MAX_DETAILS = 200;
const MAX_DETAILS_BYTES = 256 * 1024;

/** The first findings, as many as fit into the workflow's result. */
export function detailsOf(findings: readonly ReportedFinding[]): ReportedFinding[] {
  const details = findings.slice(0, MAX_DETAILS).map((finding) => withFewIds(finding));
  let bytes = 0;
  const isBeyond = (finding: ReportedFinding) =>
    (bytes += Buffer.byteLength(JSON.stringify(finding))) > MAX_DETAILS_BYTES;
  const end = details.findIndex(isBeyond);
  return end < 0 ? details : details.slice(0, end);
}

function ownRun(): { workflowId: string; runId: string } {
  return activityInfo().workflowExecution ?? { workflowId: '', runId: '' };
}

function uiOf({ temporalUiUrl, client }: ReconcileDependencies): Pick<ReconciliationReport, 'workflowsUrl'> {
  return temporalUiUrl === undefined ? {} : { workflowsUrl: workflowsUrl(temporalUiUrl, client.options.namespace) };
}
