import type { PurchaseResult } from '../contracts/purchase';
import type { ReconciliationResult } from '../contracts/reconciliation';
import { formatInstant } from '../contracts/format-instant';
import { command, possibleCommands, statusCommand } from '../contracts/operator-commands';
import { mayGetMoreKeys, type PurchaseState, RUNNING_STATES, STATE_MEANINGS } from '../domain/purchase-state';
import { formatHours, pluralize, toSafeJson, toSingleLine } from '../domain/text-format';
import { coloured, toneOf } from './colours';
import type {
  Cancellation,
  ListedPurchase,
  ListFilter,
  PendingActivity,
  PurchaseList,
  PurchaseStatus,
  Redelivery,
  Resolution,
  PurchaseStart,
  ScheduleSettings,
  StateAfterEnd,
} from '../starter/index';

/** The settings of the schedule, and the task queue of its runs. */
export type WantedSchedule = ScheduleSettings & { taskQueue: string };

/** Where a command prints. With `json`, stdout gets one document and nothing else. */
export interface Output {
  json: boolean;
  /** Stdout is a terminal with colours. */
  colours?: boolean;
  write(text: string): void;
  /** Human-readable text only, on stderr. */
  note(text: string): void;
}

/** Prints one result: as JSON, or as human-readable lines. Empty lines are left out. */
export function show(out: Output, document: unknown, lines: readonly (string | false | undefined)[] = []): void {
  out.write(`${out.json ? toSafeJson(document) : lines.filter(Boolean).join('\n')}\n`);
}

/** Makes the partner's text safe for a terminal: it can't start a new line, or clear or hide another one. */
export function safeText(text: string): string {
  return toSingleLine(text, 200);
}

/** The same for a sentence that quotes the partner. */
export function safeSentence(text: string): string {
  return toSingleLine(text, 600);
}

/** When the schedule runs, how far its runs look back, and which workers they need. */
export function formatScheduleSettings({ cron, timezone, lookbackMs, taskQueue }: WantedSchedule): string {
  return `"${cron}" in ${timezone}, looks back ${formatHours(lookbackMs)}, on ${safeText(taskQueue)}`;
}

/** A human-readable timestamp. Any client can write some of them, so other text is made safe. */
function time(at: string): string {
  return Number.isNaN(Date.parse(at)) ? safeText(at) : formatInstant(at);
}

/** Prints what was started or found, or only how it ended: `--wait` has already said what it started. */
export function showStarted(out: Output, started: PurchaseStart, result?: PurchaseResult): void {
  if (result === undefined) {
    const next = `To see its state: ${statusCommand(started.referenceId)}`;
    return show(out, started, [formatStart(started), next]);
  }
  const outcome = `${started.referenceId}  ${formatOutcome(out, result)}`;
  show(out, { ...started, result }, [outcome, ...result.lines.map(formatLine)]);
}

export function formatStart({ workflowId, runId, started }: PurchaseStart): string {
  return started ? `started ${workflowId} (run ${runId})` : `${workflowId} already exists (run ${runId})`;
}

export function showResolution(out: Output, resolution: Resolution): void {
  const { referenceId, decision, hold, orderId } = resolution;
  const choice = orderId === undefined ? DECIDED[decision] : `use order ${orderId}`;
  show(out, resolution, [
    `${referenceId}: decision accepted: ${choice} (held because of ${hold.reason})`,
    `To see the effect: ${statusCommand(referenceId)}`,
  ]);
}

/** After the words "decision accepted". */
const DECIDED: Record<Resolution['decision'], string> = {
  order: 'use an order',
  replace: 'place the order again',
  abandon: 'abandon',
  deliver: 'deliver',
  withhold: 'withhold the keys',
};

export function showRedelivery(out: Output, redelivery: Redelivery): void {
  const { order, events } = redelivery;
  const onlyOutcome = events.every(({ type }) => ['purchase.overdue', 'purchase.refunded'].includes(type));
  show(out, redelivery, [
    order &&
      `order ${safeText(order.id)} is ${safeText(order.status)}${order.issue ? `, but ${safeSentence(order.issue)}` : ''}`,
    events.length === 0 && 'nothing was sent',
    order && events.length > 0 && onlyOutcome && 'its order has no keys to deliver, so its state was sent',
    ...events.map(({ type, id }) => `the checkout received ${safeText(type)} ${safeText(id)}`),
  ]);
}

/** Prints the findings of a reconciliation, with advice for each finding that is not repaired. */
export function showReconciliation(out: Output, result: ReconciliationResult): void {
  const { from, to, orders, findings, details, repaired, report } = result;
  const count = Object.values(findings).reduce((total, one) => total + one, 0);
  const summary = count === 0 ? 'no findings' : `${pluralize(count, 'finding')}, ${repaired} repaired`;
  show(out, result, [
    `${pluralize(orders, 'order')} from ${from} to ${to}`,
    ...details.flatMap(({ kind, referenceId = '', orderIds, explanation, advice, done, note }) => [
      `${kind}  ${safeText(referenceId)}  ${orderIds.map(safeText).join(' ')}  ${formatDone(out, done)}`.trimEnd(),
      `    ${safeSentence(explanation)}${note === undefined ? '' : ` (${safeSentence(note)})`}`,
      done !== 'repaired' && `    ${safeSentence(advice)}`,
    ]),
    count > details.length && `  … and ${count - details.length} more in the report`,
    `${summary}. The report, on the worker's machine: ${report}`,
  ]);
}

function formatDone({ colours }: Output, done: string): string {
  return coloured(colours, done === 'repaired' ? 'good' : 'action', done);
}

/**
 * Prints a list of purchases. Each command has its own line, so that it is easy to copy. What all purchases have in
 * common is printed once, at the end.
 */
export function showList(out: Output, list: PurchaseList, filter: ListFilter): void {
  const { purchases, moreCount, pausedCount = 0 } = list;
  const { state, maxAgeMs } = filter;
  const isUniform = state !== undefined && state !== 'HELD';
  const period = maxAgeMs === undefined ? '' : `, in the last ${formatHours(maxAgeMs)}`;
  const left = moreCount > 0 ? `, and ${moreCount} more (--json shows up to 10,000)` : '';
  const meaning = isUniform ? ` (${STATE_MEANINGS[state]})` : '';
  show(out, list, [
    ...purchases.flatMap((purchase) => formatListed(out, purchase, isUniform)),
    `${headOf(purchases.length, state)}${period}${left}${purchases.length > 0 ? meaning : ''}`,
    ...(isUniform ? formatCommonCommands(purchases, state) : []),
    pausedCount > 0 &&
      `${pausedCount} more are PAUSED until the partner accepts orders again: ${command('list --state PAUSED')}`,
  ]);
}

function headOf(count: number, state?: PurchaseState): string {
  if (state !== undefined) return `${pluralize(count, 'purchase')} in state ${state}`;
  return `${pluralize(count, 'purchase')} ${count === 1 ? 'needs' : 'need'} attention`;
}

function formatListed({ colours }: Output, purchase: ListedPurchase, isUniform: boolean): string[] {
  const { referenceId, state, outcome, since, orderId, explanation, hold, afterEnd, commands } = purchase;
  const order = orderId === undefined ? '' : `  order ${orderId}`;
  // The line of a purchase shows how it ended, and a further line what a late delivery changed.
  const shown = outcome ?? state;
  const isObvious = isUniform && explanation === STATE_MEANINGS[shown as PurchaseState];
  return [
    `${referenceId}  ${coloured(colours, toneOf(shown), shown)} since ${time(since)}${order}`,
    ...(isObvious ? [] : [`  ${hold ? `${hold.reason}: ` : ''}${explanation}`]),
    ...(afterEnd && outcome !== undefined
      ? [`  ${coloured(colours, toneOf(state), state)} since ${time(afterEnd.at)}, ${afterwards(purchase)}`]
      : []),
    ...(isUniform ? [] : commands.map(indent)),
  ];
}

function afterwards({ afterEnd, commands }: ListedPurchase): string {
  if (wasRefundedAfterDelivery(afterEnd))
    return 'by a late delivery: ask the partner whether the delivered keys still work';
  return `by a late delivery${commands.length === 0 ? ': nothing is left to do' : ''}`;
}

/** Whether the partner refunded an order after the checkout had received keys of it. */
function wasRefundedAfterDelivery(afterEnd: StateAfterEnd | undefined): boolean {
  return afterEnd?.state === 'REFUNDED' && Object.values(afterEnd.delivered).some((count) => count > 0);
}

/** The commands for all purchases in one state, except those for which nothing is left to do. */
function formatCommonCommands(purchases: readonly ListedPurchase[], state: PurchaseState): string[] {
  const open = purchases.filter(({ commands }) => commands.length > 0);
  if (open.length === 0) return [];
  const commands = possibleCommands({ referenceId: 'REFERENCE', state });
  return [
    `For each of ${open.length === purchases.length ? 'them' : 'the other purchases'}, type:`,
    ...commands.map(indent),
  ];
}

export function showCancellation(out: Output, cancellation: Cancellation): void {
  const { referenceId, state, explanation } = cancellation;
  show(out, cancellation, [
    `cancellation requested for ${referenceId}, which is ${state}: ${explanation}`,
    `  ${statusCommand(referenceId)}`,
  ]);
}

/** Prints the state of a purchase, what it is waiting for, and the commands that an operator can use. */
export function showStatus(out: Output, status: PurchaseStatus): void {
  const { referenceId, state, orderId, workflowStatus, startedAt, endedAt } = status;
  const { waitsForWorkerSince: since, taskQueue, deliveriesError } = status;
  const mayHaveMoreKeys = endedAt !== undefined && mayGetMoreKeys(state);
  show(out, status, [
    `${referenceId}  ${coloured(out.colours, toneOf(state), state)}${orderId ? `  order ${orderId}` : ''}`,
    `  ${workflowStatus.toLowerCase()}, started ${time(startedAt)}${endedAt ? `, ended ${time(endedAt)}` : ''}`,
    ...formatRunning(status),
    status.cancelRequested && '  a cancel was requested: the order is not placed again',
    ...formatHold(status),
    ...status.pendingActivities.flatMap((work) => formatWork(work, status)),
    ...(since ? formatWaiting(taskQueue, since) : []),
    ...status.deliveries.map(formatDelivery),
    deliveriesError && `  late deliveries can't be listed: ${safeSentence(deliveriesError)}`,
    ...formatEnd(out, status),
    mayHaveMoreKeys && '  to read its order now and deliver any keys that have arrived, type:',
    mayHaveMoreKeys && indent(command(`redeliver ${referenceId}`)),
  ]);
}

function formatWaiting(taskQueue: string, since: string): string[] {
  const waiting = `  no worker on task queue ${taskQueue} has picked up its next step since ${time(since)}.`;
  const advice = 'If this persists, check that a worker is running, and with versioned workers, one of its version.';
  const setUp = `  A new dev server, or one that was restarted without --db-filename, first needs: ${command('setup')}`;
  return [...wrapped(`${waiting} ${advice}`), setUp];
}

const INDENT = ' '.repeat(4);

function indent(words: string): string {
  return `${INDENT}${words}`;
}

/** What the state of a running purchase means, and why and for what it waits. A hold explains itself. */
function formatRunning({ state, explanation, waitsFor, workflowStatus }: PurchaseStatus): string[] {
  if (state === 'STARTED' && workflowStatus === 'RUNNING')
    return ['  nothing has happened yet: no worker has picked it up'];
  const running = RUNNING_STATES.find((one) => one === state && one !== 'HELD');
  if (running === undefined) return [];
  const meaning = `  ${STATE_MEANINGS[running]}`;
  if (running !== 'UNCONFIRMED' && running !== 'PAUSED') return [meaning];
  if (!waitsFor)
    return [meaning, '  how long that may take is unknown: no worker responded within 3 s. Is a worker running?'];
  const reason = explanation ? wrapped(`  reason: ${safeSentence(explanation)}`) : [];
  return [meaning, ...reason, ...wrapped(`  next: ${safeSentence(waitsFor.what)}`)];
}

function formatHold({ referenceId, hold }: PurchaseStatus): string[] {
  if (!hold) return [];
  const since = time(hold.since);
  const explanation = `  waiting for your decision since ${since} (${hold.reason}): ${safeSentence(hold.explanation)}`;
  return [explanation, '  check, then decide:', ...possibleCommands({ referenceId, state: 'HELD', hold }).map(indent)];
}

function formatDelivery({ state, type, eventId, at }: PurchaseStatus['deliveries'][number]): string {
  const facts = [type, eventId, at === undefined ? undefined : time(at)].filter((fact) => fact !== undefined);
  return `  ${state.toLowerCase().replaceAll('_', ' ')}: ${facts.map(safeText).join('  ')}`;
}

const MAX_WIDTH = 120;

/** Breaks a long line at its spaces. The further lines are indented. */
function wrapped(line: string): string[] {
  if (line.length <= MAX_WIDTH) return [line];
  const end = line.lastIndexOf(' ', MAX_WIDTH);
  if (end <= INDENT.length) return [line];
  return [line.slice(0, end), ...wrapped(`${INDENT}${line.slice(end + 1)}`)];
}

/** An id that needs no quotes in a shell. Any client can start a workflow whose activities have other ids. */
const TYPEABLE_ID = /^[A-Za-z0-9-]+$/;

function formatWork(work: PendingActivity, { workflowId }: PurchaseStatus): string[] {
  const message = work.lastMessage ? `, last message: ${safeSentence(work.lastMessage)}` : '';
  const doing = `${safeText(work.activity)}, attempt ${work.attempt}${message}`;
  if (!work.pausedByOperator)
    return [`  doing: ${doing}${work.nextAttempt ? `, next attempt ${time(work.nextAttempt)}` : ''}`];
  if (!TYPEABLE_ID.test(work.activityId))
    return [`  PAUSED by an operator: ${doing}. Only the Temporal UI can unpause it.`];
  const unpause = `npm run temporal -- activity unpause --workflow-id ${workflowId} --activity-id ${work.activityId}`;
  return [`  PAUSED by an operator: ${doing}. To continue, type:`, indent(unpause)];
}

/** How the purchase ended, and what a later delivery has changed since. */
function formatEnd(out: Output, { referenceId, state, result, failure, afterEnd }: PurchaseStatus): string[] {
  const noResult = failure === undefined ? [] : [`  no result: ${safeSentence(failure)}`];
  if (afterEnd && (state !== result?.outcome || state === 'PARTIALLY_DELIVERED')) {
    const end = result ? [`  ended ${formatOutcome(out, result)}`] : noResult;
    return [...end, ...formatAfterEnd(out, afterEnd, result)];
  }
  if (result) return formatResult(result);
  if (failure === undefined) return [];
  return [
    ...noResult,
    '  if the partner has an order for it, deliver that:',
    ...possibleCommands({ referenceId }).map(indent),
  ];
}

/** Replaces the lines of the result, which show what had been delivered at the end. */
function formatAfterEnd({ colours }: Output, afterEnd: StateAfterEnd, result?: PurchaseResult): string[] {
  const { state, at, delivered } = afterEnd;
  const done = state === 'PARTIALLY_DELIVERED' ? '' : ' Nothing is left to do.';
  const left = wasRefundedAfterDelivery(afterEnd)
    ? ' Keys were delivered before the refund: ask the partner whether they still work.'
    : done;
  const lines = (result?.lines ?? []).map((line) => ({ ...line, delivered: delivered[line.productId] ?? 0 }));
  return [
    `  since ${time(at)}, after its end: ${coloured(colours, toneOf(state), state)}.${left}`,
    ...lines.map(formatLine),
  ];
}

/** The result below the line with the state, which already has the outcome and the order. */
function formatResult({ totalDebit, reason, lines }: PurchaseResult): string[] {
  const debit = totalDebit === undefined ? [] : [`debited ${totalDebit}`];
  const facts = reason ? [...debit, `(${safeSentence(reason)})`] : debit;
  return [...(facts.length > 0 ? [`  ${facts.join(' ')}`] : []), ...lines.map(formatLine)];
}

function formatOutcome({ colours }: Output, { outcome, orderId, totalDebit, reason }: PurchaseResult): string {
  const order = orderId ? `  order ${safeText(orderId)}` : '';
  const debit = totalDebit === undefined ? '' : `  debited ${totalDebit}`;
  const because = reason ? `  (${safeSentence(reason)})` : '';
  return `${coloured(colours, toneOf(outcome), outcome)}${order}${debit}${because}`;
}

function formatLine({ delivered, quantity, title, productId }: PurchaseResult['lines'][number]): string {
  return `    ${delivered} of ${quantity}  ${safeText(title ?? productId)}`;
}
