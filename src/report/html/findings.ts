import {
  type FindingKind,
  type FindingStatus,
  FINDING_KINDS,
  type ReportedFinding,
} from '../../domain/reconciliation/finding';
import { AMOUNT_NAMES, urlOf } from '../names';
import { amountText, escape, escapeUntrusted, linked, MAX_UNBROKEN_LENGTH, numberText, withCommands } from './escape';

/** The maximum number of rows of one kind on the page. The CSV and the JSON contain all of them. */
const MAX_ROWS = 200;

type FindingsByKind = ReadonlyMap<FindingKind, readonly ReportedFinding[]>;

/** What the statuses of these findings mean. */
export function legendOf(findings: readonly ReportedFinding[]): string {
  const statuses = Object.entries(STATUS_MEANINGS).filter(([status]) => findings.some(({ done }) => done === status));
  return `<p class="soft">${statuses.map(([status, means]) => `<b>${status}</b>: ${means}.`).join(' ')}</p>`;
}

const STATUS_MEANINGS: Record<FindingStatus, string> = {
  notified: 'the checkout is sent an event about it, and an operator must act',
  unrepaired: 'an operator must act',
  repaired: 'there is nothing to do; the next reconciliation reports what failed or is still missing',
  'dry-run': 'nothing was changed, because this was a dry run',
};

/** Links to the cards, each with its number of findings. */
export function overviewOf(byKind: FindingsByKind): string {
  const links = [...byKind].map(
    ([kind, { length }]) =>
      `<li><a href="#${kind}">${escape(FINDING_KINDS[kind].title)} <b>${numberText(length)}</b></a></li>`,
  );
  return `<ul class="overview">${links.join('')}</ul>`;
}

/**
 * One card for each kind: what it means, what to do, and its findings.
 *
 * @param workflowsUrl if undefined, nothing is linked
 */
export function cardsOf(byKind: FindingsByKind, workflowsUrl?: string): string {
  return [...byKind].map(([kind, findings]) => cardOf(kind, findings, workflowsUrl)).join('');
}

function cardOf(kind: FindingKind, findings: readonly ReportedFinding[], workflowsUrl?: string): string {
  const [first, ...others] = new Set(findings.map(({ advice }) => advice));
  const common = others.length === 0 ? first : undefined;
  const needsAction = findings.some(isOpen);
  const shown = findings.slice(0, MAX_ROWS);
  const rest = findings.length - shown.length;
  const columns = needsAction && common === undefined ? ALL_COLUMNS : ALL_COLUMNS.filter(({ isAdvice }) => !isAdvice);
  const head = columns.map(({ name, style }) => `<th scope="col" class="${style}">${name}</th>`).join('');
  const { title, means } = FINDING_KINDS[kind];
  return [
    `<section class="card"${needsAction ? ` id="${kind}"` : ''}><h3>${escape(title)}<span class="count${needsAction ? '' : ' fine'}">${numberText(findings.length)}</span></h3>`,
    `<p class="soft">${escape(means)} <code>${kind}</code></p>`,
    needsAction && common !== undefined ? `<p class="todo"><b>What to do:</b> ${withCommands(common)}</p>` : '',
    `<div class="scroll"><table class="findings"><thead><tr>${head}</tr></thead><tbody>`,
    ...shown.map((finding) => rowOf(finding, columns, workflowsUrl)),
    '</tbody></table></div>',
    rest > 0 ? `<p class="soft">${numberText(rest)} more are in the CSV and the JSON of this report.</p>` : '',
    '</section>',
  ].join('');
}

interface Column {
  name: string;
  /** The CSS class of its cells. */
  style: string;
  isAdvice?: boolean;
  /** HTML. */
  cell(finding: ReportedFinding, workflowsUrl: string | undefined): string;
}

const ALL_COLUMNS: readonly Column[] = [
  { name: 'Reference', style: 'id', cell: referenceOf },
  { name: 'Order', style: 'id', cell: ({ orderIds }) => orderIds.map(orderOf).join('') },
  { name: 'Amount', style: 'num', cell: amountsOf },
  { name: 'What is wrong', style: 'wide', cell: explanationOf },
  {
    name: 'What to do',
    style: 'wide',
    isAdvice: true,
    cell: (finding) => (isOpen(finding) ? withCommands(finding.advice) : ''),
  },
  { name: 'Status', style: 'done', cell: ({ done }) => `<span class="${done}">${done}</span>` },
];

/** On a narrow screen each cell shows the name of its column, and an empty one is hidden. */
function rowOf(finding: ReportedFinding, columns: readonly Column[], workflowsUrl?: string): string {
  const cells = columns.map(
    ({ name, style, cell }) =>
      `<td class="${style}" data-name="${name}"><div>${cell(finding, workflowsUrl)}</div></td>`,
  );
  return `<tr>${cells.join('')}</tr>`;
}

function referenceOf(finding: ReportedFinding, workflowsUrl?: string): string {
  const url = urlOf(finding, workflowsUrl);
  const { referenceId } = finding;
  if (referenceId !== undefined) return linked(referenceId, url);
  return url === undefined ? '<span class="soft">none</span>' : linked('workflow', url);
}

function orderOf(id: string): string {
  return `<div${id.length > MAX_UNBROKEN_LENGTH ? '' : ' class="unbroken"'}>${escapeUntrusted(id)}</div>`;
}

function explanationOf({ explanation, note }: ReportedFinding): string {
  return `${escapeUntrusted(explanation)}${note === undefined ? '' : `<br><span class="soft">${escapeUntrusted(note)}</span>`}`;
}

/** One amount if all agree, otherwise each with its name. The amount debited now appears only if it has changed. */
function amountsOf({ amounts: { debited, debitedNow = debited, history, furtherOrders } }: ReportedFinding): string {
  const cell = (amount: number | undefined, name?: string) =>
    amount === undefined ? [] : [`${amountText(amount)}${name ? ` <span class="soft">${name}</span>` : ''}`];
  const known = new Set([debited, debitedNow, history].filter((amount) => amount !== undefined));
  const changed = debitedNow === debited ? undefined : debitedNow;
  const own =
    known.size <= 1
      ? cell([...known][0])
      : [
          ...cell(debited, AMOUNT_NAMES.debited),
          ...cell(changed, AMOUNT_NAMES.debitedNow),
          ...cell(history, AMOUNT_NAMES.history),
        ];
  return [...own, ...cell(furtherOrders, AMOUNT_NAMES.furtherOrders)].join('<br>');
}

/** Whether an operator still has to act. */
export function isOpen({ done }: ReportedFinding): boolean {
  return done !== 'repaired';
}
