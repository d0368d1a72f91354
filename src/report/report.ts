import { groupBy } from '../domain/group-by';
import { sumOfAmounts } from '../domain/money';
import { isBillable, safeStatus } from '../domain/order';
import type { ReportedFinding } from '../domain/reconciliation/finding';
import type { PartnerOrder, RecordIndex } from '../domain/reconciliation/records';

/** Totals of a reconciliation. Sums are exact decimals. The partner does not name the currency of its amounts. */
interface Totals {
  /** How many orders and how many purchases were compared. */
  orders: number;
  purchases: number;
  /** By the partner's status, made safe to show. */
  byStatus: Record<string, { orders: number; amount: number }>;
  /**
   * Sorted, without days that have no orders. `delivered` counts the orders whose keys were delivered. `amount`
   * leaves out failed and refunded orders.
   */
  days: { day: string; orders: number; delivered: number; amount: number }[];
  /** How many purchases ended in each of the 24 hours of the day. */
  hours: number[];
}

/**
 * The report of one reconciliation, and the schema of its JSON. Timestamps are ISO 8601 in UTC. Amounts are decimal
 * numbers as the partner writes them.
 */
export interface ReconciliationReport extends Totals {
  schema: 1;
  /** The run of `reconcileWorkflow` that wrote this report. */
  workflowId: string;
  runId: string;
  /** Absent if TEMPORAL_UI_URL is not set. `WORKFLOWS_URL/WORKFLOW_ID` is the page of a workflow. */
  workflowsUrl?: string;
  from: string;
  to: string;
  createdAt: string;
  dryRun: boolean;
  /** The time zone of `days` and `hours`. UTC if absent. */
  timeZone?: string;
  findings: ReportedFinding[];
  repaired: number;
}

/** What a report is built from. Timestamps are epoch ms. */
interface ReportInput extends Pick<
  ReconciliationReport,
  'workflowId' | 'runId' | 'workflowsUrl' | 'dryRun' | 'findings'
> {
  from: number;
  to: number;
  now: number;
  timeZone: string;
  records: RecordIndex;
}

/** Builds the report. If this version of Node does not know the time zone, the report is in UTC. */
export function reportOf(input: ReportInput) {
  const { workflowId, runId, workflowsUrl, from, to, now, dryRun, records, findings } = input;
  const timeZone = isKnown(input.timeZone) ? input.timeZone : 'UTC';
  return {
    schema: 1,
    workflowId,
    runId,
    workflowsUrl,
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    createdAt: new Date(now).toISOString(),
    dryRun,
    ...totalsOf(records, calendarIn(timeZone), from),
    timeZone,
    findings,
    repaired: findings.filter(({ done }) => done === 'repaired').length,
  } satisfies ReconciliationReport;
}

function isKnown(timeZone: string): boolean {
  try {
    return calendarIn(timeZone) !== undefined;
  } catch {
    return false;
  }
}

/**
 * Sums up the records in linear time.
 *
 * @param from epoch ms; older records are not counted, because they were read only for follow-up
 */
export function totalsOf(records: RecordIndex, calendar: ReturnType<typeof calendarIn>, from = -Infinity): Totals {
  const orders = [...records.orders.values()].filter(({ createdAt }) => createdAt >= from);
  const purchases = [...records.purchases.values()].filter(({ startedAt }) => startedAt >= from);
  const byStatus = groupBy(orders, ({ status }) => safeStatus(status));
  const byDay = groupBy(orders, ({ createdAt }) => calendar.dayOf(createdAt));
  const closed = purchases.flatMap(({ closedAt }) => (closedAt === undefined ? [] : calendar.hourOf(closedAt)));
  return {
    orders: orders.length,
    purchases: purchases.length,
    byStatus: Object.fromEntries(
      sorted(byStatus).map(([status, all]) => [status, { orders: all.length, amount: amountOf(all) }]),
    ),
    days: sorted(byDay).map(([day, all]) => ({
      day,
      orders: all.length,
      delivered: all.filter((order) => isDelivered(order, records)).length,
      amount: amountOf(all.filter(isBillable)),
    })),
    hours: Array.from({ length: 24 }, (_, hour) => closed.filter((one) => one === hour).length),
  };
}

function amountOf(orders: readonly PartnerOrder[]): number {
  return sumOfAmounts(orders.map(({ amount }) => amount));
}

function isDelivered({ id, referenceId }: PartnerOrder, { purchases, owners }: RecordIndex): boolean {
  const purchase = purchases.get(owners.get(id) ?? referenceId ?? '');
  const isOwn = purchase?.orderId === undefined || purchase.orderId === id;
  return isOwn && (purchase?.delivered ?? 0) > 0;
}

function sorted<T>(groups: Map<string, T>): [string, T][] {
  return [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/**
 * Converts epoch ms to the days and hours of a time zone.
 *
 * @throws RangeError if this version of Node does not know the time zone
 */
export function calendarIn(timeZone: string) {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    calendar: 'gregory',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    hourCycle: 'h23',
  });
  const at = (epochMs: number) =>
    Object.fromEntries(format.formatToParts(epochMs).map(({ type, value }) => [type, value]));
  return {
    dayOf(epochMs: number): string {
      const { year, month, day } = at(epochMs);
      return `${year}-${month}-${day}`;
    },
    hourOf: (epochMs: number): number => Number(at(epochMs).hour),
  };
}
