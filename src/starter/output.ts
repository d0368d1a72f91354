import type { PurchaseResult } from '../contracts/purchase';
import type { StartedPurchase } from './purchases';
import type { PurchaseStatus } from './status';

/** Where a command prints. With `json` there is one document on stdout and nothing else. */
export interface Output {
  json: boolean;
  write(text: string): void;
  /** For people only, on stderr. */
  note(text: string): void;
}

/** Prints one answer: as JSON, or in words. */
export function show(out: Output, document: unknown, words: string): void {
  out.write(out.json ? `${JSON.stringify(document, undefined, 2)}\n` : `${words}\n`);
}

export function showStarted(out: Output, started: StartedPurchase, result?: PurchaseResult): void {
  const head = `${started.started ? 'started' : 'already known'}: ${started.workflowId} (run ${started.runId})`;
  show(out, result ? { ...started, result } : started, result ? `${head}\n${resultInWords(result)}` : head);
}

export function showStatus(out: Output, status: PurchaseStatus): void {
  const lines = [
    `${status.referenceId}  ${status.state}${status.orderId ? `  order ${status.orderId}` : ''}`,
    `  ${status.execution.toLowerCase()} since ${status.startedAt}${status.closedAt ? `, ended ${status.closedAt}` : ''}`,
    ...holdInWords(status),
    ...status.pending.map(
      (work) =>
        `  ${work.paused ? 'paused' : 'doing'}: ${work.activity}, attempt ${work.attempt}` +
        `${work.lastAnswer ? `: ${work.lastAnswer}` : ''}${work.nextAttempt ? ` (next ${work.nextAttempt})` : ''}`,
    ),
    ...status.deliveries.map((event) => `  ${event.state}: ${event.type} ${event.eventId ?? ''} ${event.at ?? ''}`),
    ...(status.result ? [resultInWords(status.result)] : []),
  ];
  show(out, status, lines.join('\n'));
}

function holdInWords({ hold }: PurchaseStatus): string[] {
  if (!hold) return [];
  return [
    `  waits for you: ${hold.explanation}`,
    `  decide with: ${hold.decisions.map((kind) => `--${kind}`).join(', ')}`,
  ];
}

function resultInWords(result: PurchaseResult): string {
  const order = result.orderId ? `  order ${result.orderId}` : '';
  const debit = result.totalDebit === undefined ? '' : `  debited ${result.totalDebit}`;
  return [
    `  ${result.outcome}${order}${debit}${result.reason ? `  (${result.reason})` : ''}`,
    ...result.lines.map((line) => `    ${line.delivered} of ${line.quantity}  ${line.title ?? line.productId}`),
  ].join('\n');
}
