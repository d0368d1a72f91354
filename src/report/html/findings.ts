import {
  type FindingKind,
  type FindingStatus,
  KIND_DOCS,
  type ReportedFinding,
} from '../../domain/reconciliation/finding';
import { amountText, escape, foreign, numberText, withCommands } from './escape';

/** The most rows of one kind on the page. CSV and JSON have all of them. */
const MOST_ROWS = 200;

const STATUS: Record<FindingStatus, string> = {
  repaired: 'repaired',
  notified: 'checkout notified',
  left: 'needs a person',
  'dry-run': 'dry run',
};

type FindingsByKind = ReadonlyMap<FindingKind, readonly ReportedFinding[]>;

/** Links to the cards, each with its number of findings. */
export function overviewOf(byKind: FindingsByKind): string {
  const links = [...byKind].map(
    ([kind, { length }]) =>
      `<li><a href="#${kind}">${escape(KIND_DOCS[kind].title)} <b>${numberText(length)}</b></a></li>`,
  );
  return `<ul class="overview">${links.join('')}</ul>`;
}

/** One card for each kind: what it means, what to do, and each finding. */
export function cardsOf(byKind: FindingsByKind): string {
  return [...byKind].map(([kind, findings]) => cardOf(kind, findings)).join('');
}

function cardOf(kind: FindingKind, findings: readonly ReportedFinding[]): string {
  const [first, ...others] = new Set(findings.map(({ advice }) => advice));
  const common = others.length === 0 ? first : undefined;
  const needsAction = findings.some(isOpen);
  const shown = findings.slice(0, MOST_ROWS);
  const rest = findings.length - shown.length;
  const withAdvice = needsAction && common === undefined;
  const head = ['Reference', 'Order', 'Amount', 'What is wrong', withAdvice ? 'What to do' : '', 'Status']
    .filter((name) => name !== '')
    .map((name) => `<th scope="col"${name === 'Amount' ? ' class="num"' : ''}>${name}</th>`)
    .join('');
  const { title, means } = KIND_DOCS[kind];
  return [
    `<section class="card"${needsAction ? ` id="${kind}"` : ''}><h3>${escape(title)}<span class="count${needsAction ? '' : ' fine'}">${numberText(findings.length)}</span></h3>`,
    `<p class="soft">${escape(means)} <code>${kind}</code></p>`,
    needsAction && common !== undefined ? `<p class="todo"><b>What to do:</b> ${withCommands(common)}</p>` : '',
    `<div class="scroll"><table><thead><tr>${head}</tr></thead><tbody>`,
    ...shown.map((finding) => rowOf(finding, withAdvice)),
    '</tbody></table></div>',
    rest > 0 ? `<p class="soft">${numberText(rest)} more are in the CSV and the JSON of this report.</p>` : '',
    '</section>',
  ].join('');
}

function rowOf(finding: ReportedFinding, withAdvice: boolean): string {
  const { referenceId, orderIds, explanation, advice, done, note } = finding;
  const reference = referenceId === undefined ? '<span class="soft">none</span>' : foreign(referenceId);
  const cells = [
    `<td class="id">${reference}</td>`,
    `<td class="id">${orderIds.map(foreign).join('<br>')}</td>`,
    `<td class="num">${amountsOf(finding)}</td>`,
    `<td class="wide">${foreign(explanation)}${note === undefined ? '' : `<br><span class="soft">${foreign(note)}</span>`}</td>`,
    withAdvice ? `<td class="wide">${isOpen(finding) ? withCommands(advice) : ''}</td>` : '',
    `<td class="done ${done}">${STATUS[done]}</td>`,
  ];
  return `<tr>${cells.join('')}</tr>`;
}

/** One amount where all agree, else each with its name; what is debited now only where that has changed. */
function amountsOf({ amounts: { debited, debitedNow = debited, history, surplus } }: ReportedFinding): string {
  const cell = (amount: number | undefined, name?: string) =>
    amount === undefined ? [] : [`${amountText(amount)}${name ? ` <span class="soft">${name}</span>` : ''}`];
  const known = new Set([debited, debitedNow, history].filter((amount) => amount !== undefined));
  const changed = debitedNow === debited ? undefined : debitedNow;
  const own =
    known.size <= 1
      ? cell([...known][0])
      : [...cell(debited, 'debited'), ...cell(changed, 'debited now'), ...cell(history, 'in the order history')];
  return [...own, ...cell(surplus, 'for the others')].join('<br>');
}

/** Whether a person still has to act. */
export function isOpen({ done }: ReportedFinding): boolean {
  return done !== 'repaired';
}
