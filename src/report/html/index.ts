import { groupBy } from '../../domain/group-by';
import { workflowUrl } from '../../domain/ui-links';
import { chart } from './chart';
import { amountText, escape, escapeUntrusted, formatCount, linked, numberText } from './escape';
import { cardsOf, isOpen, legendOf, overviewOf } from './findings';
import { STYLE } from './style';
import type { ReconciliationReport } from '../report';

/** The browser loads and runs nothing, even if a string from outside reached the page unescaped. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/** The human-readable report: one page that loads nothing else. Every string from outside is escaped. */
export function renderHtml(report: ReconciliationReport): string {
  const allOpen = report.findings.filter(isOpen);
  const counts = { open: allOpen.length, repaired: report.findings.length - allOpen.length };
  // The findings are already sorted: the most urgent kinds come first.
  const open = groupBy(allOpen, ({ kind }) => kind);
  const repaired = groupBy(report.findings, (finding) => (isOpen(finding) ? undefined : finding.kind));
  const { workflowsUrl, dryRun } = report;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<title>${escape(`Reconciliation of ${minute(report.to)}: ${headline(report, counts)}`)}</title><style>${STYLE}</style></head>
<body><main>
${header(report, counts)}
${open.size === 0 ? '' : `<h2>${dryRun ? 'What was found' : 'What needs attention'}</h2>${legendOf(allOpen)}${overviewOf(open)}${cardsOf(open, workflowsUrl)}`}
${repaired.size === 0 ? '' : `<h2>What was repaired</h2><p class="soft">Nothing is left to do about these findings.</p>${cardsOf(repaired, workflowsUrl)}`}
<h2>Totals</h2>
${statusCounts(report)}
${days(report)}
${hours(report)}
${footer(report)}
</main></body></html>
`;
}

/** How many findings need attention, and how many were repaired. */
interface Counts {
  open: number;
  repaired: number;
}

function headline({ dryRun }: ReconciliationReport, { open, repaired }: Counts): string {
  const findings = formatCount(open, 'finding');
  if (open > 0) return dryRun ? `${findings} in a dry run` : `${findings} ${open === 1 ? 'needs' : 'need'} attention`;
  return repaired > 0 ? `All is well: ${numberText(repaired)} repaired, nothing left to do` : 'All is well';
}

function header(report: ReconciliationReport, counts: Counts): string {
  const facts = [
    ['Orders at the partner', numberText(report.orders)],
    ['Your purchases', numberText(report.purchases)],
    ['Repaired', numberText(counts.repaired)],
    [report.dryRun ? 'Found' : 'Need attention', numberText(counts.open)],
  ];
  return [
    `<header><div class="headline ${counts.open === 0 ? 'good' : 'bad'}"><h1>${escape(headline(report, counts))}</h1>`,
    `<p>${summary(report, counts)}</p>`,
    `<p class="soft">Orders from ${escape(minute(report.from))} to ${escape(minute(report.to))} UTC${report.dryRun ? ' · dry run' : ''}</p></div>`,
    `<dl class="facts">${facts.map(([name, value]) => `<div><dt>${name}</dt><dd>${value}</dd></div>`).join('')}</dl></header>`,
  ].join('');
}

function summary({ dryRun }: ReconciliationReport, { open, repaired }: Counts): string {
  if (open === 0 && repaired === 0) {
    return "The partner's charges, your purchases and the events that the checkout received agree.";
  }
  const sides = "The partner's order history and your purchases";
  if (open === 0) {
    return `${sides} differed. Every repair has been made or started. If a delivery does not arrive, the next reconciliation says so.`;
  }
  if (dryRun) return `${sides} differ. This was a dry run: nothing was changed and the checkout was not notified.`;
  const rest =
    repaired > 0 ? ` ${formatCount(repaired, 'other finding')} ${repaired === 1 ? 'has' : 'have'} been repaired.` : '';
  return `${sides} differ. Each finding says what to do.${rest}`;
}

function statusCounts({ byStatus, orders }: ReconciliationReport): string {
  const rows = Object.entries(byStatus)
    .toSorted(([, a], [, b]) => b.orders - a.orders)
    .map(([status, total]) => ({
      cells: [escapeUntrusted(status), numberText(total.orders), amountText(total.amount)],
      whole: total.orders,
    }));
  const none = '<p class="soft">There were no orders.</p>';
  const table = rows.length === 0 ? none : chart(['Status', 'Orders', 'Amount'], rows, orders);
  return card('Orders by status at the partner', table);
}

function days(report: ReconciliationReport): string {
  if (report.days.length === 0) return '';
  const rows = report.days.map(({ day, orders, delivered, amount }) => ({
    cells: [escape(day), numberText(orders), numberText(delivered), amountText(amount)],
    whole: orders,
    part: delivered,
  }));
  const legend =
    '<p class="soft"><span class="swatch p"></span>delivered <span class="swatch w"></span>not delivered</p>';
  const table = chart(['Day', 'Orders', 'Delivered', 'Charged'], rows);
  return card(`Orders by day <span class="soft">(${zone(report)})</span>`, `${legend}${table}`);
}

function hours(report: ReconciliationReport): string {
  if (!report.hours.some((closed) => closed > 0)) return '';
  const rows = report.hours.map((closed, hour) => ({
    cells: [String(hour).padStart(2, '0'), numberText(closed)],
    whole: closed,
  }));
  const table = chart(['Hour', 'Purchases'], rows);
  return card(`When purchases ended, by hour of the day <span class="soft">(${zone(report)})</span>`, table);
}

function footer({ workflowsUrl, workflowId, runId, createdAt }: ReconciliationReport): string {
  const url = workflowsUrl === undefined ? undefined : workflowUrl(workflowsUrl, workflowId, runId);
  return [
    `<p class="soft">Run <span class="id">${linked(runId, url)}</span>, written at ${escape(minute(createdAt))} UTC.`,
    'Amounts are in the currency of your account, which the partner does not name.',
    'This page contains no keys. The CSV and the JSON in the same folder contain the same findings.</p>',
  ].join('\n');
}

function card(title: string, content: string): string {
  return `<section class="card"><h3>${title}</h3>${content}</section>`;
}

function zone({ timeZone = 'UTC' }: ReconciliationReport): string {
  return escape(timeZone);
}

/** Shortens an ISO timestamp in UTC to `2026-01-31 03:00`. */
function minute(timestamp: string): string {
  return timestamp.slice(0, 16).replace('T', ' ');
}
