import type { PurchaseResult } from '../contracts/purchase';
import type { ReconciliationResult } from '../contracts/reconciliation';
import { command, commandsFor, searchCommand, statusCommand } from '../contracts/operator-commands';
import { inHours, inOneLine } from '../domain/texts';
import type {
  Cancellation,
  DeliveryStatus,
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

/** Prints one answer: as JSON, or as text for people. */
export function show(out: Output, document: unknown, words: string): void {
  out.write(out.json ? `${JSON.stringify(document, undefined, 2)}\n` : `${words}\n`);
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
  const head = `${started.started ? 'started' : 'already known'}: ${started.workflowId} (run ${started.runId})`;
  show(out, result ? { ...started, result } : started, result ? `${head}\n${formatResult(result)}` : head);
}

export function showResolution(out: Output, resolution: Resolution): void {
  const { referenceId, decision, hold, orderId } = resolution;
  const answer = orderId === undefined ? decision : `${decision} ${orderId}`;
  const next = `What comes of it: ${statusCommand(referenceId)}`;
  show(out, resolution, `decided: ${answer}, for ${hold.reason} of ${referenceId}\n${next}`);
}

export function showRedelivery(out: Output, redelivery: Redelivery): void {
  const { order } = redelivery;
  const seen = order
    ? [`order ${order.id} is ${order.status}${order.issue ? `, but ${shownSentence(order.issue)}` : ''}`]
    : [];
  const onlyOutcome = redelivery.events.every(({ type }) => ['purchase.overdue', 'purchase.refunded'].includes(type));
  const none = order && onlyOutcome ? ['there are no keys to hand over yet; its event was repeated'] : [];
  const received = redelivery.events.map(({ type, id }) => `received: ${type} ${id}`);
  show(out, redelivery, [...seen, ...none, ...received].join('\n'));
}

/** What a reconciliation has found, with what to do about each finding that is not repaired. */
export function showReconciliation(out: Output, result: ReconciliationResult): void {
  const { from, to, orders, findings, details, repaired, report } = result;
  const count = Object.values(findings).reduce((total, one) => total + one, 0);
  const more = count > details.length ? [`  … and ${count - details.length} more, see the report`] : [];
  const lines = [
    `${orders} orders from ${from} to ${to}`,
    ...details.flatMap(({ kind, referenceId = '', orderIds, explanation, advice, done, note }) => [
      `${kind}  ${shown(referenceId)}  ${orderIds.map(shown).join(' ')}  ${done}`.trimEnd(),
      `    ${shownSentence(explanation)}${note === undefined ? '' : ` (${shownSentence(note)})`}`,
      ...(done === 'repaired' ? [] : [`    ${shownSentence(advice)}`]),
    ]),
    ...more,
    `${count === 0 ? 'no findings' : `${count} findings, ${repaired} repaired`}; the report lies with the worker: ${report}`,
  ];
  show(out, result, lines.join('\n'));
}

/** The commands are copied from here: each on a line of its own. */
export function showList(out: Output, list: PurchaseList, { state, sinceMs }: ListFilter): void {
  const { purchases, more, paused = 0 } = list;
  const period = sinceMs === undefined ? '' : `, in the last ${inHours(sinceMs)}`;
  const left = more > 0 ? `, and ${more} more that were started earlier (--since and --json show others)` : '';
  const lines = [
    ...purchases.flatMap(({ referenceId, state: now, since, orderId, reason, commands }) => [
      `${referenceId}  ${now} since ${since}${orderId === undefined ? '' : `  order ${orderId}`}`,
      `  ${reason}`,
      ...commands.map((command) => `    ${command}`),
    ]),
    `${state ?? 'waiting for a person'}${period}: ${purchases.length}${left}`,
    ...(paused > 0 ? [`${paused} more are PAUSED until the partner takes orders again, see list --state PAUSED`] : []),
  ];
  show(out, list, lines.join('\n'));
}

export function showCancellation(out: Output, cancellation: Cancellation): void {
  const { referenceId, state, explanation } = cancellation;
  show(
    out,
    cancellation,
    `asked to cancel ${referenceId}, which is ${state}: ${explanation}\n  ${statusCommand(referenceId)}`,
  );
}

/** Where a purchase stands, what it waits for, and what a person can type. */
export function showStatus(out: Output, status: PurchaseStatus): void {
  const { referenceId, state, orderId, execution, startedAt, closedAt } = status;
  const lines = [
    `${referenceId}  ${state}${orderId ? `  order ${orderId}` : ''}`,
    `  ${execution.toLowerCase()}, started ${startedAt}${closedAt ? `, ended ${closedAt}` : ''}`,
    ...formatHold(status),
    ...status.pending.flatMap((work) => formatWork(work, status)),
    ...formatWaiting(status),
    ...status.deliveries.map(formatDelivery),
    ...(status.deliveriesUnlisted ? [`  later deliveries can't be listed: ${status.deliveriesUnlisted}`] : []),
    ...(status.result ? [formatResult(status.result)] : []),
    ...formatFailure(status),
    ...formatAdvice(status),
  ];
  show(out, status, lines.join('\n'));
}

function formatHold({ referenceId, hold }: PurchaseStatus): string[] {
  if (!hold) return [];
  const commands = commandsFor(referenceId, hold.decisions).map((command) => `    ${command}`);
  return [`  waits for you, ${hold.reason}: ${shownSentence(hold.explanation)}`, '  type one of:', ...commands];
}

function formatWork(work: PendingWork, { workflowId }: PurchaseStatus): string[] {
  const answer = work.lastAnswer ? `, last answer: ${shownSentence(work.lastAnswer)}` : '';
  const next = work.nextAttempt ? `, next ${work.nextAttempt}` : '';
  if (!work.paused) return [`  doing: ${work.activity}, attempt ${work.attempt}${answer}${next}`];
  return [
    `  PAUSED by an operator: ${work.activity}, attempt ${work.attempt}${answer}. To go on, type:`,
    `    temporal activity unpause --workflow-id ${workflowId} --activity-id ${work.activityId}`,
  ];
}

function formatWaiting({ waitsForWorkerSince, taskQueue }: PurchaseStatus): string[] {
  if (!waitsForWorkerSince) return [];
  return [
    `  waits for a worker on task queue ${taskQueue} since ${waitsForWorkerSince}; if that stays, is one running?`,
  ];
}

function formatDelivery({ state, type, eventId, at }: DeliveryStatus): string {
  return `  ${state.toLowerCase().replaceAll('_', ' ')}: ${[type, eventId, at].filter(Boolean).join('  ')}`;
}

function formatFailure({ referenceId, failure }: PurchaseStatus): string[] {
  if (failure === undefined) return [];
  return [
    `  no result: ${shownSentence(failure)}`,
    '  whether the partner has an order for it, this shows:',
    `    ${searchCommand(referenceId)}`,
  ];
}

function formatAdvice({ referenceId, result }: PurchaseStatus): string[] {
  if (result?.outcome !== 'OVERDUE' && result?.outcome !== 'PARTIALLY_DELIVERED') return [];
  return [
    '  to read its order now and deliver the keys that have come, type:',
    `    ${command(`redeliver ${referenceId}`)}`,
  ];
}

function formatResult(result: PurchaseResult): string {
  const order = result.orderId ? `  order ${result.orderId}` : '';
  const debit = result.totalDebit === undefined ? '' : `  debited ${result.totalDebit}`;
  return [
    `  ${result.outcome}${order}${debit}${result.reason ? `  (${shownSentence(result.reason)})` : ''}`,
    ...result.lines.map((line) => `    ${line.delivered} of ${line.quantity}  ${shown(line.title ?? line.productId)}`),
  ].join('\n');
}
