import { inOneLine } from '../domain/texts';
import type { ReportedFinding } from '../domain/reconciliation/finding';
import { inParts } from './parts';
import type { ReconciliationReport } from './report';

/** The columns, in their order. New ones are added at the end. */
const COLUMNS: readonly [name: string, cell: (finding: ReportedFinding) => string | number | undefined][] = [
  ['kind', (finding) => finding.kind],
  ['done', (finding) => finding.done],
  ['reference', (finding) => finding.referenceId],
  ['orders', (finding) => finding.orderIds.join(' ')],
  ['workflow', (finding) => finding.workflowId],
  ['debited', (finding) => finding.amounts.debited],
  ['history', (finding) => finding.amounts.history],
  ['surplus', (finding) => finding.amounts.surplus],
  ['explanation', (finding) => finding.explanation],
  ['advice', (finding) => finding.advice],
  ['note', (finding) => finding.note],
  ['debited now', (finding) => finding.amounts.debitedNow],
];

/**
 * The findings for a spreadsheet, one a row: commas, every string quoted, UTF-8 with a byte order mark, without which Excel
 * reads another encoding. @returns its parts, in order
 */
export function* renderCsv({ findings }: ReconciliationReport): Generator<string> {
  yield `\uFEFF${lineOf(COLUMNS.map(([name]) => name))}`;
  yield* inParts(findings, (finding) => lineOf(COLUMNS.map(([, cell]) => cell(finding))));
}

function lineOf(cells: readonly (string | number | undefined)[]): string {
  return `${cells.map(cellText).join(',')}\r\n`;
}

function cellText(value: string | number | undefined): string {
  if (value === undefined) return '';
  if (typeof value === 'number') return String(value);
  return `"${withoutFormulas(inOneLine(value, Infinity)).replaceAll('"', '""')}"`;
}

/**
 * An apostrophe keeps a spreadsheet from reading a cell as a formula. A spreadsheet that splits by something else than commas
 * makes a cell of what follows another separator or a quote, so it is put there too.
 */
function withoutFormulas(text: string): string {
  return text.replace(/(?<=^|[,;|"'])(?= *[=+\-@＝＋－＠])/g, "'");
}
