import { toSingleLine } from '../domain/text-format';
import type { ReportedFinding } from '../domain/reconciliation/finding';
import { AMOUNT_NAMES, urlOf } from './names';
import { inBatches } from './batches';
import type { ReconciliationReport } from './report';

type Cell = (finding: ReportedFinding, report: ReconciliationReport) => string | number | undefined;

/** The columns in order. New columns go at the end. */
const COLUMNS: readonly [name: string, cell: Cell][] = [
  ['kind', ({ kind }) => kind],
  ['done', ({ done }) => done],
  ['reference', ({ referenceId }) => referenceId],
  ['orders', ({ orderIds }) => orderIds.join(' ')],
  ['workflow', ({ workflowId }) => workflowId],
  [`amount ${AMOUNT_NAMES.debited}`, ({ amounts }) => amounts.debited],
  [`amount ${AMOUNT_NAMES.history}`, ({ amounts }) => amounts.history],
  [`amount ${AMOUNT_NAMES.furtherOrders}`, ({ amounts }) => amounts.furtherOrders],
  ['explanation', ({ explanation }) => explanation],
  ['advice', ({ advice }) => advice],
  ['note', ({ note }) => note],
  [`amount ${AMOUNT_NAMES.debitedNow}`, ({ amounts }) => amounts.debitedNow],
  ['reconciled at (UTC)', (_, { to }) => dateOf(to)],
  ['Temporal UI', (finding, { workflowsUrl }) => urlOf(finding, workflowsUrl)],
];

/**
 * The findings for a spreadsheet, one row each: commas, every string in quotes, UTF-8. Excel needs the byte order
 * mark to recognise UTF-8.
 *
 * @returns the parts of the file, in order
 */
export function* renderCsv(report: ReconciliationReport): Generator<string> {
  yield `\uFEFF${csvLine(COLUMNS.map(([name]) => name))}`;
  yield* inBatches(report.findings, (finding) => csvLine(COLUMNS.map(([, cell]) => cell(finding, report))));
}

/** `2026-01-31 03:00:00` in UTC. Spreadsheets read this form as a date, and the ISO form as text. */
function dateOf(timestamp: string): string {
  return timestamp.slice(0, 19).replace('T', ' ');
}

function csvLine(cells: readonly (string | number | undefined)[]): string {
  return `${cells.map(cellText).join(',')}\r\n`;
}

function cellText(value: string | number | undefined): string {
  if (value === undefined) return '';
  if (typeof value === 'number') return String(value);
  return `"${withoutFormulas(toSingleLine(value, Infinity)).replaceAll('"', '""')}"`;
}

/**
 * Puts an apostrophe before everything that a spreadsheet would read as a formula, even a spreadsheet that splits cells
 * at another separator or at a quote.
 */
function withoutFormulas(text: string): string {
  return text.replace(/(?<=^|[,;|"'])(?= *[=+\-@＝＋－＠])/g, "'");
}
