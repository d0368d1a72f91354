import { FINDING_KINDS, type FindingKind, KIND_DOCS } from '../../domain/reconciliation/index';
import type { Done, ReportedFinding } from '../report';
import { amountText, escape, foreign, numberText, withCommands } from './escape';

/** The most rows of one kind on the page: it is for people. The other forms of the report have them all. */
const MOST_ROWS = 200;

const DONE: Record<Done, string> = {
  mended: 'mended',
  notified: 'checkout notified',
  left: 'left to you',
  'dry-run': 'nothing (dry run)',
};

const AMOUNTS: Record<string, string> = { debited: 'debited', history: 'in the history', surplus: 'for the others' };

/** A line of links to the cards, each with how many it has. */
export function overviewOf(findings: readonly ReportedFinding[]): string {
  const links = [...grouped(findings)].map(
    ([kind, { length }]) =>
      `<li><a href="#${kind}">${escape(KIND_DOCS[kind].title)} <b>${numberText(length)}</b></a></li>`,
  );
  return `<ul class="overview">${links.join('')}</ul>`;
}

/** One card for each kind: what it means, what to do, and each finding. */
export function cardsOf(findings: readonly ReportedFinding[]): string {
  return [...grouped(findings)].map(([kind, ofKind]) => cardOf(kind, ofKind)).join('');
}

function grouped(findings: readonly ReportedFinding[]): Map<FindingKind, ReportedFinding[]> {
  const byKind = new Map<FindingKind, ReportedFinding[]>(FINDING_KINDS.map((kind) => [kind, []]));
  for (const finding of findings) byKind.get(finding.kind)?.push(finding);
  return new Map([...byKind].filter(([, ofKind]) => ofKind.length > 0));
}

function cardOf(kind: FindingKind, findings: readonly ReportedFinding[]): string {
  const advices = new Set(findings.map(({ advice }) => advice));
  const common = advices.size === 1 ? [...advices][0] : undefined;
  const isOpen = findings.some(isUnsettled);
  const shown = findings.slice(0, MOST_ROWS);
  const rest = findings.length - shown.length;
  const head = [
    'Reference',
    'Order',
    'Amount',
    'What is wrong',
    ...(isOpen && common === undefined ? ['What to do'] : []),
    'Done',
  ]
    .map((name) => `<th scope="col"${name === 'Amount' ? ' class="num"' : ''}>${name}</th>`)
    .join('');
  const { title, means } = KIND_DOCS[kind];
  return [
    `<section class="card"${isOpen ? ` id="${kind}"` : ''}><h3>${escape(title)}<span class="count${isOpen ? '' : ' fine'}">${numberText(findings.length)}</span></h3>`,
    `<p class="soft">${escape(means)} <code>${kind}</code></p>`,
    isOpen && common !== undefined ? `<p class="todo"><b>What to do:</b> ${withCommands(common)}</p>` : '',
    `<div class="scroll"><table><thead><tr>${head}</tr></thead><tbody>`,
    ...shown.map((finding) => rowOf(finding, isOpen && common === undefined)),
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
    withAdvice ? `<td class="wide">${isUnsettled(finding) ? withCommands(advice) : ''}</td>` : '',
    `<td class="done ${done}">${DONE[done]}</td>`,
  ];
  return `<tr>${cells.join('')}</tr>`;
}

function amountsOf({ amounts }: ReportedFinding): string {
  const { debited, history, ...others } = amounts;
  const isAgreed = debited === undefined || history === undefined || debited === history;
  const agreed = debited ?? history;
  const entries = Object.entries(isAgreed ? others : amounts);
  const plain = isAgreed && agreed !== undefined ? [amountText(agreed)] : [];
  const named = entries.map(
    ([name, amount]) => `${amountText(amount)} <span class="soft">${escape(AMOUNTS[name] ?? name)}</span>`,
  );
  return [...plain, ...named].join('<br>');
}

/** Whether a person still has to act. */
export function isUnsettled({ done }: ReportedFinding): boolean {
  return done !== 'mended';
}
