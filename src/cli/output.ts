import type { PurchaseResult } from '../contracts/purchase';
import type { ReconciliationResult } from '../contracts/reconciliation';
import { command, commandsFor, searchCommand, statusCommand } from '../contracts/operator-commands';
import { inHours, inOneLine, jsonOf } from '../domain/texts';
import type {
  Cancellation,
  ListFilter,
  PendingWork,
  PurchaseList,
  PurchaseStatus,
  Redelivery,
  Resolution,
  StartedPurchase,
} from '../starter/index';

/** Where a command prints. With `json` there is one document on stdout and nothing else. */
export interface Output {
  json: boolean;
  write(text: string): void;
  /** For people only, on stderr. */
  note(text: string): void;
}

/** Prints one answer: as JSON, or as lines for people, without those that are not there. */
export function show(out: Output, document: unknown, lines: readonly (string | false | undefined)[] = []): void {
  out.write(`${out.json ? jsonOf(document) : lines.filter(Boolean).join('\n')}\n`);
}

/** A text that the partner wrote, wholly or in part: in a terminal it can't end its line, and neither clear nor hide another. */
export function shown(text: string): string {
  return inOneLine(text, 200);
}

/** The same for a sentence of ours that quotes the partner. */
export function shownSentence(text: string): string {
  return inOneLine(text, 600);
}

export function showStarted(out: Output, started: StartedPurchase, result?: PurchaseResult): void {
  show(out, result ? { ...started, result } : started, [
    `${started.started ? 'started' : 'already known'}: ${started.workflowId} (run ${started.runId})`,
    ...formatResult(result),
  ]);
}

export function showResolution(out: Output, resolution: Resolution): void {
  const { referenceId, decision, hold, orderId } = resolution;
  const answer = orderId === undefined ? decision : `${decision} ${orderId}`;
  show(out, resolution, [
    `decided: ${answer}, for ${hold.reason} of ${referenceId}`,
    `What comes of it: ${statusCommand(referenceId)}`,
  ]);
}

export function showRedelivery(out: Output, redelivery: Redelivery): void {
  const { order, events } = redelivery;
  const onlyOutcome = events.every(({ type }) => ['purchase.overdue', 'purchase.refunded'].includes(type));
  show(out, redelivery, [
    order && `order ${order.id} is ${order.status}${order.issue ? `, but ${shownSentence(order.issue)}` : ''}`,
    order && onlyOutcome && 'there are no keys to deliver yet; its event was repeated',
    ...events.map(({ type, id }) => `received: ${type} ${id}`),
  ]);
}

/** What a reconciliation has found, with what to do about each finding that is not repaired. */
export function showReconciliation(out: Output, result: ReconciliationResult): void {
  const { from, to, orders, findings, details, repaired, report } = result;
  const count = Object.values(findings).reduce((total, one) => total + one, 0);
  show(out, result, [
    `${orders} orders from ${from} to ${to}`,
    ...details.flatMap(({ kind, referenceId = '', orderIds, explanation, advice, done, note }) => [
      `${kind}  ${shown(referenceId)}  ${orderIds.map(shown).join(' ')}  ${done}`.trimEnd(),
      `    ${shownSentence(explanation)}${note === undefined ? '' : ` (${shownSentence(note)})`}`,
      done !== 'repaired' && `    ${shownSentence(advice)}`,
    ]),
    count > details.length && `  … and ${count - details.length} more, see the report`,
    `${count === 0 ? 'no findings' : `${count} findings, ${repaired} repaired`}; the report lies with the worker: ${report}`,
  ]);
}

/** The commands are copied from here: each on a line of its own. */
export function showList(out: Output, list: PurchaseList, { state, sinceMs }: ListFilter): void {
  const { purchases, more, paused = 0 } = list;
  const period = sinceMs === undefined ? '' : `, in the last ${inHours(sinceMs)}`;
  const left = more > 0 ? `, and ${more} more that were started earlier (--since and --json show others)` : '';
  show(out, list, [
    ...purchases.flatMap(({ referenceId, state: now, since, orderId, reason, commands }) => [
      `${referenceId}  ${now} since ${since}${orderId === undefined ? '' : `  order ${orderId}`}`,
      `  ${reason}`,
      ...commands.map(toType),
    ]),
    `${state ?? 'waiting for a person'}${period}: ${purchases.length}${left}`,
    paused > 0 && `${paused} more are PAUSED until the partner takes orders again, see list --state PAUSED`,
  ]);
}

export function showCancellation(out: Output, cancellation: Cancellation): void {
  const { referenceId, state, explanation } = cancellation;
  show(out, cancellation, [
    `asked to cancel ${referenceId}, which is ${state}: ${explanation}`,
    `  ${statusCommand(referenceId)}`,
  ]);
}

/** Where a purchase stands, what it waits for, and what a person can type. */
export function showStatus(out: Output, status: PurchaseStatus): void {
  const { referenceId, state, orderId, execution, startedAt, closedAt, result } = status;
  const { waitsForWorkerSince: since, taskQueue, deliveries, deliveriesUnlisted } = status;
  const mayHaveMoreKeys = result?.outcome === 'OVERDUE' || result?.outcome === 'PARTIALLY_DELIVERED';
  show(out, status, [
    `${referenceId}  ${state}${orderId ? `  order ${orderId}` : ''}`,
    `  ${execution.toLowerCase()}, started ${startedAt}${closedAt ? `, ended ${closedAt}` : ''}`,
    ...formatHold(status),
    ...status.pending.flatMap((work) => formatWork(work, status)),
    since && `  waits for a worker on task queue ${taskQueue} since ${since}; if that stays, is one running?`,
    ...deliveries.map(
      ({ state, type, eventId, at }) =>
        `  ${state.toLowerCase().replaceAll('_', ' ')}: ${[type, eventId, at].filter(Boolean).join('  ')}`,
    ),
    deliveriesUnlisted && `  later deliveries can't be listed: ${deliveriesUnlisted}`,
    ...formatResult(result),
    ...formatFailure(status),
    mayHaveMoreKeys && '  to read its order now and deliver the keys that have come, type:',
    mayHaveMoreKeys && toType(command(`redeliver ${referenceId}`)),
  ]);
}

function toType(words: string): string {
  return `    ${words}`;
}

function formatHold({ referenceId, hold }: PurchaseStatus): string[] {
  if (!hold) return [];
  const explanation = `  waits for you, ${hold.reason}: ${shownSentence(hold.explanation)}`;
  return [explanation, '  type one of:', ...commandsFor(referenceId, hold.decisions).map(toType)];
}

function formatWork(work: PendingWork, { workflowId }: PurchaseStatus): string[] {
  const answer = work.lastAnswer ? `, last answer: ${shownSentence(work.lastAnswer)}` : '';
  const doing = `${work.activity}, attempt ${work.attempt}${answer}`;
  if (!work.paused) return [`  doing: ${doing}${work.nextAttempt ? `, next ${work.nextAttempt}` : ''}`];
  const unpause = `temporal activity unpause --workflow-id ${workflowId} --activity-id ${work.activityId}`;
  return [`  PAUSED by an operator: ${doing}. To go on, type:`, toType(unpause)];
}

function formatFailure({ referenceId, failure }: PurchaseStatus): string[] {
  if (failure === undefined) return [];
  const search = ['  whether the partner has an order for it, this shows:', toType(searchCommand(referenceId))];
  return [`  no result: ${shownSentence(failure)}`, ...search];
}

function formatResult(result?: PurchaseResult): string[] {
  if (!result) return [];
  const { outcome, orderId, totalDebit, reason, lines } = result;
  const order = orderId ? `  order ${orderId}` : '';
  const debit = totalDebit === undefined ? '' : `  debited ${totalDebit}`;
  return [
    `  ${outcome}${order}${debit}${reason ? `  (${shownSentence(reason)})` : ''}`,
    ...lines.map((line) => `    ${line.delivered} of ${line.quantity}  ${shown(line.title ?? line.productId)}`),
  ];
}
