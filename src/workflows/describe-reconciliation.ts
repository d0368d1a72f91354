import type { ReconciliationResult } from '../contracts/reconciliation';
import { escapeMarkdown, joinDetails } from '../domain/text-format';

/**
 * Describes how a reconciliation ended, as markdown for the Temporal UI. The text starts with what matters most:
 * whether anything needs attention.
 */
export function describeReconciliation(result: ReconciliationResult, dryRun: boolean): string {
  const { orders, findings, report } = result;
  const kinds = Object.entries(findings).map(([kind, count]) => `- ${count} × ${kind}`);
  return joinDetails([
    `**DONE**: ${summarize(result, dryRun)}. ${orders} ${orders === 1 ? 'order was' : 'orders were'} compared.`,
    kinds.join('\n'),
    `**Report:** ${escapeMarkdown(report)}${report.startsWith('not written') ? '' : " (on the worker's machine)"}`,
  ]);
}

function summarize({ findings, repaired }: ReconciliationResult, dryRun: boolean): string {
  const found = Object.values(findings).reduce((sum, count) => sum + count, 0);
  if (found === 0) return 'no findings';
  if (dryRun) return `${found} found in a dry run, nothing was repaired`;
  const open = found - repaired;
  return `${repaired} repaired, ${open === 0 ? 'nothing left to do' : `${open} ${open === 1 ? 'needs' : 'need'} attention`}`;
}
