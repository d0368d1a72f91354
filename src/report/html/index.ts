import { chartOfDays, chartOfHours } from './charts';
import { amountText, counted, escape, foreign, numberText } from './escape';
import { cardsOf, findingsByKind, isOpen, overviewOf } from './findings';
import { STYLE } from './style';
import type { ReconciliationReport } from '../report';

/** Nothing is loaded and nothing runs, whatever string found its way into the page. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/** The report for people: one page that needs nothing from elsewhere. Every string from outside is escaped. */
export function renderHtml(report: ReconciliationReport): string {
  const allOpen = report.findings.filter(isOpen);
  const counts = { open: allOpen.length, repaired: report.findings.length - allOpen.length };
  const open = findingsByKind(allOpen);
  const repaired = findingsByKind(report.findings.filter((finding) => !isOpen(finding)));
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<title>${escape(`Reconciliation of ${minute(report.to)}: ${headline(report, counts)}`)}</title><style>${STYLE}</style></head>
<body><main>
${header(report, counts)}
${open.length === 0 ? '' : `<h2>${report.dryRun ? 'What was found' : 'What needs a person'}</h2>${overviewOf(open)}${cardsOf(open)}`}
${repaired.length === 0 ? '' : `<h2>What was repaired</h2><p class="soft">Nothing is left to do about these findings.</p>${cardsOf(repaired)}`}
<h2>Totals</h2>
${statuses(report)}
${days(report)}
${hours(report)}
<p class="soft">Run ${foreign(report.runId)}, written at ${escape(minute(report.createdAt))} UTC. Amounts are as the partner writes
them, in the currency of the account. This page holds no keys. The same findings are in the CSV and the JSON beside it.</p>
</main></body></html>
`;
}

/** How many findings still need a person, and how many were repaired. */
interface Counts {
  open: number;
  repaired: number;
}

function headline({ dryRun }: ReconciliationReport, { open, repaired }: Counts): string {
  const findings = counted(open, 'finding');
  if (open > 0) return dryRun ? `${findings} in a dry run` : `${findings} ${open === 1 ? 'needs' : 'need'} a person`;
  return repaired > 0 ? `All is well: ${numberText(repaired)} repaired, nothing left to do` : 'All is well';
}

function header(report: ReconciliationReport, counts: Counts): string {
  const facts = [
    ['Orders at the partner', numberText(report.orders)],
    ['Purchases here', numberText(report.purchases)],
    ['Repaired', numberText(counts.repaired)],
    [report.dryRun ? 'Found' : 'Need a person', numberText(counts.open)],
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
    return 'What the partner charged, what was bought here and what the checkout received are the same.';
  }
  const differ = "The partner's order history and the purchases here";
  if (open === 0) return `${differ} differed. Every difference has been repaired.`;
  if (dryRun) return `${differ} differ. This was a dry run: nothing was changed and the checkout was not notified.`;
  const rest =
    repaired > 0 ? ` ${counted(repaired, 'other finding')} ${repaired === 1 ? 'has' : 'have'} been repaired.` : '';
  return `${differ} differ. Each finding says what to do.${rest}`;
}

function statuses({ byStatus, orders }: ReconciliationReport): string {
  const entries = Object.entries(byStatus).toSorted(([, a], [, b]) => b.orders - a.orders);
  const rows = entries.map(([status, total]) => {
    const share = orders === 0 ? 0 : Math.min(100, (100 * total.orders) / orders);
    return `<tr><td>${foreign(status)}</td><td class="num">${numberText(total.orders)}</td><td class="num">${amountText(total.amount)}</td><td class="bar"><span class="share" style="width:${share.toFixed(1)}%"></span></td></tr>`;
  });
  const body = rows.length === 0 ? '<tr><td colspan="4" class="soft">There were no orders.</td></tr>' : rows.join('');
  return `<section class="card"><h3>Orders by status at the partner</h3><div class="scroll"><table><thead><tr><th scope="col">Status</th><th scope="col" class="num">Orders</th><th scope="col" class="num">Amount</th><th></th></tr></thead><tbody>${body}</tbody></table></div></section>`;
}

function days(report: ReconciliationReport): string {
  if (report.days.length === 0) return '';
  const rows = report.days.map(
    ({ day, orders, delivered, amount }) =>
      `<tr><td>${escape(day)}</td><td class="num">${numberText(orders)}</td><td class="num">${numberText(delivered)}</td><td class="num">${amountText(amount)}</td></tr>`,
  );
  return [
    `<section class="card"><h3>Orders by day <span class="soft">(${zone(report)})</span></h3>`,
    '<p class="soft"><span class="swatch p"></span>handed over <span class="swatch w"></span>not handed over</p>',
    chartOfDays(report.days),
    '<details><summary>As a table</summary><div class="scroll"><table><thead><tr><th scope="col">Day</th><th scope="col" class="num">Orders</th><th scope="col" class="num">Handed over</th><th scope="col" class="num">Charged</th></tr></thead>',
    `<tbody>${rows.join('')}</tbody></table></div></details></section>`,
  ].join('');
}

function hours(report: ReconciliationReport): string {
  if (!report.hours.some((closed) => closed > 0)) return '';
  return `<section class="card"><h3>When purchases were closed, by hour of the day <span class="soft">(${zone(report)})</span></h3>${chartOfHours(report.hours)}</section>`;
}

function zone({ timeZone = 'UTC' }: ReconciliationReport): string {
  return escape(timeZone);
}

/** `2026-01-31 03:00` of an ISO instant in UTC. Anything else is shown unchanged. */
function minute(instant: string): string {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(instant) ? instant.slice(0, 16).replace('T', ' ') : instant;
}
