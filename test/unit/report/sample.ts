import type { Finding, FindingStatus } from '../../../src/domain/reconciliation/finding';
import { reconcile } from '../../../src/domain/reconciliation/reconcile';
import { rowsById } from '../../../src/domain/order';
import { indexRecords } from '../../../src/domain/reconciliation/records';
import { calendarIn, type ReconciliationReport, totalsOf } from '../../../src/report/report';
import { NIGHT, order, plant, PLANTS, purchase } from '../domain/reconciliation/generated-records';

/** The report of a night with every situation of `PLANTS`, among 600 purchases without a finding. */
export function eventfulNight(): ReconciliationReport {
  const { orders, purchases } = plant(Object.values(PLANTS), 1);
  const hour = 3_600_000;
  for (let i = 0; i < 600; i++) {
    const at = NIGHT.from + ((i * 97) % 4_300) * 60_000;
    const status = i % 23 === 0 ? 'REFUNDED' : 'COMPLETED';
    const outcome = status === 'COMPLETED' ? {} : { state: 'REFUNDED', delivered: 0, keyIds: {} };
    orders.push(order(`w${i}`, { createdAt: at, status }));
    purchases.push(purchase(`w${i}`, { startedAt: at, closedAt: at + hour / 4, ...outcome }));
  }
  const records = indexRecords(rowsById(orders), purchases);
  const findings = reconcile(records, NIGHT).map((finding) => ({ ...finding, done: doneOf(finding) }));
  return {
    ...quietNight(),
    ...totalsOf(records, calendarIn('Europe/Warsaw')),
    timeZone: 'Europe/Warsaw',
    findings,
    repaired: findings.filter(({ done }) => done === 'repaired').length,
  };
}

function doneOf({ repair }: Finding): FindingStatus {
  if (repair === undefined) return 'unrepaired';
  return repair.startsWith('notify') ? 'notified' : 'repaired';
}

/** The report of a night without orders. */
export function quietNight(): ReconciliationReport {
  return {
    schema: 1,
    workflowId: 'nightly-reconciliation-2026-01-15T03:00:00Z',
    runId: '0199f3a2-5c1e-7d40-9b1f-2f6a8c1d7e55',
    from: new Date(NIGHT.from).toISOString(),
    to: new Date(NIGHT.now).toISOString(),
    createdAt: new Date(NIGHT.now + 90_000).toISOString(),
    dryRun: false,
    orders: 0,
    purchases: 0,
    byStatus: {},
    days: [],
    hours: Array.from({ length: 24 }, () => 0),
    findings: [],
    repaired: 0,
  };
}
