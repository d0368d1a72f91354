import { log, proxyLocalActivities, upsertMemo, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../contracts/activities';
import type { Alert, EarlierEvent } from '../contracts/checkout-events';
import type {
  AcceptedOrder,
  HoldNotice,
  PurchaseInput,
  PurchaseLine,
  PurchaseMemo,
  PurchaseResult,
  PurchaseSettings,
  PurchaseState,
  ReceivedEvent,
} from '../contracts/purchase';
import { PARTNER_ORDER_ID, PURCHASE_STATE, REFERENCE_ID } from '../contracts/search-attributes';
import type { Accepted } from '../domain/accepted';
import type { EventLine } from '../domain/assess-order';
import type { PurchaseOutcome } from '../domain/outcome';
import { fingerprintsByProduct, keyCount, totalQuantity } from '../domain/line-totals';
import type { OrderChanges } from './order-changes';
import { metrics } from './metrics';
import { localOptions } from './policies';
import { instant, type Progress } from './progress';

const { readSettings } = proxyLocalActivities<Activities>(localOptions);

/** What every worker may have set otherwise: this purchase goes by what it began with. */
type RecordedSettings = Awaited<ReturnType<Activities['readSettings']>>;

/** How a purchase ends. */
export interface OutcomeDetails {
  outcome: PurchaseOutcome;
  /** What is to be handed over: empty for every outcome without keys. */
  lines: EventLine[];
  /** How many keys its order is to bring; absent: as many as were bought. */
  ordered?: number;
  totalDebit?: number;
  reason?: string;
  /** After a reset: what was sent before it. */
  earlier?: EarlierEvent[];
  /** ISO 8601: when it happened, where that is on record; else it happens now. */
  at?: string;
  /** Its event is the same whenever it is made, so the first attempt to deliver it may be local. */
  mayDeliverAtOnce?: boolean;
}

/** What is known of a purchase, and shown of it: search attributes, memo, and its progress. */
export class PurchaseRecord {
  /** What a person must see but need not decide; the checkout is notified after the outcome. */
  readonly alerts: Alert[] = [];
  /** The run of the last search of the order history. Another one shows a reset. */
  searchedInRun = workflowInfo().firstExecutionRunId;
  private shown = attributesAtStart();
  private watched = false;
  private accepted: AcceptedOrder | undefined;

  constructor(
    readonly input: PurchaseInput,
    readonly settings: PurchaseSettings,
    readonly fingerprintSecretId: string | undefined,
    private readonly progress: Progress,
    readonly orderChanges: OrderChanges,
  ) {}

  get cancelRequested(): boolean {
    return this.progress.cancelRequested;
  }

  get orderId(): string | undefined {
    return this.progress.orderId;
  }

  /**
   * Shows a state. The search attributes that lists do not show yet are written with it: each write costs the server.
   *
   * @param waitsFor what comes next.
   */
  show(state: PurchaseState, explanation: string, waitsFor: string): void {
    this.progress.show(state, explanation, waitsFor);
    this.list(state);
  }

  private list(state: PurchaseState): void {
    const { referenceId } = this.input;
    const { orderId } = this;
    const changed = [
      ...(this.shown.referenceId === referenceId ? [] : [{ key: REFERENCE_ID, value: referenceId }]),
      ...(orderId === undefined || this.shown.orderId === orderId ? [] : [{ key: PARTNER_ORDER_ID, value: orderId }]),
      ...(this.shown.state === state ? [] : [{ key: PURCHASE_STATE, value: state }]),
    ];
    if (changed.length > 0) upsertSearchAttributes(changed);
    this.shown = { referenceId, orderId: orderId ?? this.shown.orderId, state };
  }

  /** Notes that the partner has this order for the purchase. The next state that is shown shows it, too. */
  noteOrder(orderId: string): void {
    this.progress.orderId = orderId;
  }

  /** Shows that the order is open. @param deadline epoch ms */
  showWaiting(deadline: number): void {
    const { pollIntervalMs, watch } = this.settings;
    const polls =
      watch === 'history'
        ? 'polled when its row in the order history changes,'
        : `polled every ${inSeconds(pollIntervalMs)} (the pending activity has the last answer),`;
    this.show(
      'PENDING',
      `order ${this.orderId} is open at the partner`,
      `${polls} and once more at ${instant(deadline)}: OVERDUE if it is still open then`,
    );
  }

  /** Notes what a poll of the order has shown. */
  notePoll(status: string): void {
    this.progress.notePoll(status);
  }

  /** Notes the hold that waits for a decision, or that there is none any more. */
  noteHold(hold: HoldNotice | undefined): void {
    this.progress.hold = hold;
    upsertMemo({ hold: hold ?? null, accepted: this.accepted } satisfies PurchaseMemo);
  }

  /** Notes what an operator has accepted of the order. The memo shows it once the hold is over. */
  noteAccepted(what: Accepted): void {
    const { orderId } = this;
    if (orderId === undefined) return;
    this.accepted = { ...this.acceptedOf(orderId), ...what, orderId };
  }

  /** What an operator has accepted of this order. */
  acceptedOf(orderId: string | undefined): Accepted | undefined {
    return this.accepted?.orderId === orderId ? this.accepted : undefined;
  }

  /** Shows, without a word to lists, what it is about just now. */
  showStep(explanation: string, waitsFor: string): void {
    this.progress.showStep(explanation, waitsFor);
  }

  /** Shows the watcher that the order history is to be read for this purchase. */
  showWatched(): void {
    if (this.watched) return;
    this.watched = true;
    upsertMemo({ watchedSince: firstStart() } satisfies PurchaseMemo);
  }

  /** What every event of this purchase begins with. @param at ISO 8601; default: it happens now. */
  eventHeader(at = new Date().toISOString()): { at: string; referenceId: string; orderId?: string } {
    return { at, referenceId: this.input.referenceId, orderId: this.orderId };
  }

  /** Notes what a person must see but need not decide. */
  alert(kind: string, details: Alert['details']): void {
    this.alerts.push({ kind, details });
  }

  /** Notes an event that the checkout has received. */
  noteReceived(event: ReceivedEvent): void {
    this.progress.events.push(event);
  }

  /** Shows the outcome, writes the closing memo and returns the result. */
  close({ outcome, lines: handedOver, ordered, totalDebit, reason }: OutcomeDetails): PurchaseResult {
    const { referenceId, items } = this.input;
    const { orderId } = this;
    const lines = resultLines(this.input, handedOver);
    const cancelRequested = this.cancelRequested || undefined;
    const result = { referenceId, outcome, orderId, lines, totalDebit, cancelRequested, reason };
    this.progress.end(result);
    this.list(outcome);
    const memo: PurchaseMemo = {
      totalDebit,
      ordered: ordered ?? totalQuantity(items),
      delivered: lines.reduce((total, line) => total + line.delivered, 0),
      fingerprints: fingerprintsByProduct(handedOver),
      events: this.progress.events,
      accepted: this.accepted,
      reason,
    };
    upsertMemo(this.watched ? { ...memo, watchedSince: undefined } : { ...memo });
    log.info('purchase ended', { outcome, orderId });
    metrics.count('fulfilment_purchases_ended', { outcome });
    metrics.record('fulfilment_purchase_duration', (Date.now() - firstStart()) / 1_000, { outcome });
    if (totalDebit !== undefined) metrics.record('fulfilment_purchase_debit', totalDebit, { outcome });
    return result;
  }
}

/** Puts the settings of the worker that begins the purchase on record. */
export function recordSettings(): Promise<RecordedSettings> {
  return readSettings.executeWithOptions({ summary: 'the settings' }, []);
}

/** Begins what is known of a purchase, and shows its first state. */
export function openPurchase(
  input: PurchaseInput,
  { settings, fingerprintSecretId }: RecordedSettings,
  progress: Progress,
  orderChanges: OrderChanges,
): PurchaseRecord {
  const purchase = new PurchaseRecord(input, settings, fingerprintSecretId, progress, orderChanges);
  purchase.show('PLACING', 'it has just begun', 'its first attempt at placing the order');
  return purchase;
}

/** The search attributes with which the purchase was started: our own starter sets the first ones, others need not. */
function attributesAtStart(): { referenceId?: string; orderId?: string; state?: string } {
  const { typedSearchAttributes: attributes } = workflowInfo();
  return {
    referenceId: attributes.get(REFERENCE_ID),
    orderId: attributes.get(PARTNER_ORDER_ID),
    state: attributes.get(PURCHASE_STATE),
  };
}

/** When this purchase began, whatever run this is: epoch ms. */
export function firstStart(): number {
  return workflowInfo().startTime.getTime();
}

/** In words. */
function inSeconds(ms: number): string {
  return `${ms / 1_000} s`;
}

/** Ordered products first; what an operator accepted beyond them follows. */
function resultLines({ items }: PurchaseInput, delivered: readonly EventLine[]): PurchaseLine[] {
  const foreign = delivered.filter((line) => !items.some((item) => item.productId === line.productId));
  return [...items, ...foreign].map(({ productId, quantity }) => {
    const own = delivered.filter((line) => line.productId === productId);
    const title = own.find((line) => line.title !== undefined)?.title;
    return { productId, title, quantity, delivered: keyCount(own) };
  });
}
