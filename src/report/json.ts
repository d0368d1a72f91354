import type { ReconciliationReport } from './report';

/** The report for programs. `ReconciliationReport` is its schema. */
export function renderJson(report: ReconciliationReport): string {
  return `${JSON.stringify(report, undefined, 2)}\n`;
}
