import { setCurrentDetails } from '@temporalio/workflow';
import type { HoldNotice, PurchaseInput, PurchaseResult, ReceivedEvent, StatusAnswer } from '../contracts/purchase';
import type { PurchaseState } from '../domain/purchase-state';
import { describeStatus, readableInstant } from './describe-status';

/** Where a purchase stands: the answer to the query `status`, and the details in the Temporal UI. It costs no event. */
export class Progress {
  orderId: string | undefined;
  hold: HoldNotice | undefined;
  readonly events: ReceivedEvent[] = [];
  private cancelled = false;
  private state: PurchaseState = 'PLACING';
  private since = now();
  private explanation = 'it has just begun';
  private waitsFor: StatusAnswer['waitsFor'] = { what: 'a worker to begin', since: this.since };
  private lastPoll: StatusAnswer['lastPoll'];
  private result: PurchaseResult | undefined;

  constructor(private readonly input: PurchaseInput) {}

  get cancelRequested(): boolean {
    return this.cancelled;
  }

  noteCancelRequest(): void {
    this.cancelled = true;
    this.render();
  }

  /** Notes what a poll of its order has shown. */
  notePoll(status: string): void {
    this.lastPoll = { status, at: now() };
  }

  /** @param waitsFor what comes next. */
  show(state: PurchaseState, explanation: string, waitsFor: string): void {
    if (state !== this.state) this.since = now();
    this.state = state;
    this.explanation = explanation;
    this.waitsFor = { what: waitsFor, since: now() };
    this.render();
  }

  /** Shows what it is about just now, in the state that it has. */
  showStep(explanation: string, waitsFor: string): void {
    this.show(this.state, explanation, waitsFor);
  }

  /** Shows how it ended. */
  end(result: PurchaseResult): void {
    const { outcome, reason = '' } = result;
    this.show(outcome, reason, '');
    this.waitsFor = undefined;
    this.result = result;
    this.render();
  }

  /** The answer to the query `status`. */
  answer(): StatusAnswer {
    const { referenceId, items, maxDebit } = this.input;
    return {
      referenceId,
      items,
      maxDebit,
      state: this.state,
      since: this.since,
      orderId: this.orderId,
      explanation: this.explanation,
      waitsFor: this.waitsFor,
      hold: this.hold,
      lastPoll: this.lastPoll,
      cancelRequested: this.cancelled,
      events: this.events,
      result: this.result,
    };
  }

  private render(): void {
    setCurrentDetails(describeStatus(this.answer()));
  }
}

/** `2026-01-31 03:14:15 UTC`. @param at epoch ms */
export function instant(at: number): string {
  return readableInstant(new Date(at).toISOString());
}

function now(): string {
  return new Date().toISOString();
}
