import { activityInfo, log } from '@temporalio/activity';
import type {
  ReconcileOrdersInput,
  ReconciliationResult,
  ReconcileActivities,
  ReportedFinding,
} from '../../contracts/reconciliation';
import { FAILURE } from '../../contracts/failures';
import { safeErrorCode } from '../../domain/error-code';
import {
  type Finding,
  findingKey,
  indexRecords,
  inReportOrder,
  readsForKeys,
  reconcile,
  type ReconcileOptions,
  type RecordIndex,
  withStatus,
} from '../../domain/reconciliation/index';
import { isPartnerError } from '../../partner/index';
import { settlingAge } from '../../workflows/policies';
import { type ReconciliationReport, writeReport } from '../../report/index';
import { lookbackIssue } from '../../temporal/client';
import { failure, nameOf, toFailure } from '../failures';
import type { ActivityDependencies } from '../dependencies';
import { confirm } from './confirm';
import { orderRetry } from './read-order';
import { handleFinding } from './repair';
import type { RepairContext } from './repair-context';
import { inParallel } from '../in-parallel';
import { openProgress, type Progress } from '../progress';
import type { LaterDeliveries } from './purchase-lists';
import { readRecords, type Records } from './read-records';
import { reportOf } from './report-input';
import { detailsOf } from './result-details';

/** What the reconciliation needs in addition to the other activities. */
export interface ReconcileDependencies extends ActivityDependencies {
  /** The folder for the reports. */
  reportDir: string;
}

const DAY_MS = 24 * 3_600_000;
/** How many findings are handled at the same time. */
const PARALLEL = 12;
const MOST_ORPHANS_CONFIRMED = 500;

/** The activity that compares the partner's orders with the purchases here and repairs what can be repaired. It never buys. */
export function createReconcileActivities(deps: ReconcileDependencies): ReconcileActivities {
  return {
    async reconcileOrders(input) {
      validateWindow(input);
      const progress = openProgress();
      try {
        const ask = { class: 'reconciliation', signal: progress.signal } as const;
        return await deps.partner.withPermits(ask, (partner) =>
          runReconciliation({ ...deps, partner }, input, progress),
        );
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
  const issue = await lookbackIssue(deps.client, window.to - window.from);
  if (issue !== undefined) throw failure(FAILURE.lookbackTooLong, issue, { final: true });
  // Taken before the first page: the reading may take hours, and what begins or ends meanwhile is for the next run.
  const now = deps.now();
  const settledBefore = now - settlingAge(deps.settings);
  const options: ReconcileOptions = { now, from: window.from, settledBefore, stuckAfterMs: DAY_MS };
  const read = await readRecords(deps, { options, runId: ownRunId() }, progress);
  const findings = await compare(deps, read, { options, dryRun: window.dryRun }, progress);

  const { orders, purchases } = read;
  const report = reportOf({ ...window, runId: ownRunId(), now: deps.now(), orders, purchases, findings });
  progress.show('writing the report', { findings: findings.length });
  const written = await tryToWrite(deps.reportDir, report);
  const { from, to, mended } = report;
  log.info('reconciled', { orders: report.orders, findings: findings.length, mended });
  return {
    from,
    to,
    orders: report.orders,
    findings: countsOf(findings),
    details: detailsOf(findings),
    mended,
    report: written,
  };
}

/** What the comparison of the records needs beside them is done with when it ends, and is not kept while the report is written. */
async function compare(
  deps: ReconcileDependencies,
  { orders, unreadable, purchases, later }: Records,
  { options, dryRun }: { options: ReconcileOptions; dryRun: boolean },
  progress: Progress,
): Promise<ReportedFinding[]> {
  const records = indexRecords(orders, purchases, unreadable);
  const suggested = reconcile(records, options);
  return handleFindings(deps, suggested, { records, options, later, dryRun }, progress);
}

/**
 * What a run has found and repaired is worth more than its file. Tried again, it would read everything anew for hours, and
 * fail at last.
 *
 * @returns the path for people, or why there is none.
 */
async function tryToWrite(dir: string, report: ReconciliationReport): Promise<string> {
  try {
    return (await writeReport(dir, report)).html;
  } catch (error) {
    const why = safeErrorCode(error) ?? nameOf(error);
    log.error('the report could not be written', { why });
    return `not written: REPORT_DIR can't be written (${why})`;
  }
}

/**
 * A missing number would become NaN, and nothing compares with NaN: every order would seem too young to be a finding, and
 * the report would say that all is well. A workflow of another version may leave one out.
 */
function validateWindow(input: ReconcileOrdersInput): void {
  const { from, to, dryRun, timeZone } = input ?? {};
  const areNumbers = [from, to].every(Number.isFinite) && from < to;
  if (areNumbers && typeof dryRun === 'boolean' && typeof timeZone === 'string') return;
  const expected = 'expected {from, to, dryRun, timeZone} of this version: start the reconciliation anew';
  throw failure(FAILURE.invalidReconciliation, expected, { final: true });
}

/** Confirms each suggested finding and does about it what is allowed. What is not confirmed is left out. */
async function handleFindings(
  deps: ReconcileDependencies,
  suggested: readonly Finding[],
  input: { records: RecordIndex; options: ReconcileOptions; later: LaterDeliveries; dryRun: boolean },
  progress: Progress,
): Promise<ReportedFinding[]> {
  const retry = orderRetry(progress.signal);
  const context: RepairContext = {
    ...deps,
    taskQueue: activityInfo().taskQueue,
    signal: progress.signal,
    retry,
    runId: ownRunId(),
    dryRun: input.dryRun,
  };
  // Nothing is done about an orphan, so the lists are trusted beyond some hundred of them. What can't be read was read twice.
  // Asked once for each finding, in their order: a set of those that are trusted would be as long as the list.
  let orphans = 0;
  const isTrusted = ({ kind }: Finding) =>
    kind === 'UNREADABLE' || (kind === 'ORPHAN' && ++orphans > MOST_ORPHANS_CONFIRMED);
  const confirmContext = { reader: deps.purchases, partner: deps.partner, retry, ...input };
  let handled = 0;
  const findings = await inParallel(suggested, PARALLEL, async (finding) => {
    progress.signal.throwIfAborted();
    const confirmed = isTrusted(finding) ? { finding, orders: [] } : await confirm(confirmContext, finding);
    handled += 1;
    progress.show('confirming and repairing', { done: handled, of: suggested.length });
    if (!confirmed) return undefined;
    const isNotified = input.later.notified.has(findingKey(confirmed.finding));
    if (isNotified && !readsForKeys(confirmed.finding)) return withStatus(confirmed.finding, 'notified');
    return handleFinding(context, confirmed);
  });
  return inReportOrder(findings.filter((finding) => finding !== undefined));
}

function countsOf(findings: readonly Finding[]): ReconciliationResult['findings'] {
  const counts: ReconciliationResult['findings'] = {};
  for (const { kind } of findings) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

function ownRunId(): string {
  return activityInfo().workflowExecution?.runId ?? '';
}
