import {
  type CancellationScope,
  condition,
  log,
  metricMeter,
  proxyLocalActivities,
  setCurrentDetails,
  upsertMemo,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities, PolledOrder, WorkerSettings } from '../contracts/activities';
import { metricsOf } from '../contracts/metrics';
import type {
  AcceptedOrder,
  Hold,
  PurchaseInput,
  PurchaseLine,
  PurchaseMemo,
  PurchaseResult,
  PurchaseSettings,
  ReceivedEvent,
  StatusQueryResult,
} from '../contracts/purchase';
import { STARTED_WITH_REJECT_DUPLICATE } from '../contracts/names';
import { PARTNER_ORDER_ID, PURCHASE_STATE, REFERENCE_ID } from '../contracts/search-attributes';
import { formatInstant } from '../contracts/format-instant';
import { type KeyIds, keyCount, keyIdsOf, totalQuantity, unionOfKeyIds } from '../domain/key-ids';
import type { PurchaseOutcome, PurchaseState } from '../domain/purchase-state';
import type { Accepted, SaleLine } from '../domain/review-order';
import { describeStatus } from './describe-status';
import { DELIVERY_RETRY_HOURS, LAST_NOTICES_TIMEOUT_MS, localOptions, delayFloorMs } from './policies';

/** Nothing is recorded during a replay, but a retried workflow task records twice. */
export const metrics = metricsOf(metricMeter);

const { readRunId } = proxyLocalActivities<Activities>(localOptions);

/** How a purchase ends. */
export interface OutcomeDetails {
  outcome: PurchaseOutcome;
  /** The status that the order had when it was reviewed. */
  status?: string;
  /** Empty if the outcome has no keys. */
  lines: SaleLine[];
  /** How many keys the order should contain; by default as many as were bought. */
  ordered?: number;
  totalDebit?: number;
  reason?: string;
  /** See `purchaseMemo`. */
  adopted?: boolean;
}

/**
 * What a running purchase knows and where it shows it: in the result of the query `status`, the texts in the Temporal
 * UI, the search attributes, the memo and the metrics. One class writes them all, so they never contradict each other.
 */
export class PurchaseRecord {
  /** Set by `begin` before anything reads it. */
  settings!: PurchaseSettings;
  fingerprintSecretId!: string;
  /** The partner's order. It becomes visible when the next state is shown. */
  orderId: string | undefined;
  /** An earlier execution of this reference may have delivered the order. */
  mayHaveEarlierExecution = false;
  cancelRequested = false;
  /** Attention notices being sent to the checkout. */
  readonly attentionNotices = new Set<CancellationScope>();
  /** Events that the checkout has received. */
  readonly events: ReceivedEvent[] = [];
  /** Key ids that the checkout received in earlier runs and deliveries. */
  receivedKeyIds: KeyIds = {};
  /** See `ReviewTerms`. */
  keylessEvents: string[] = [];
  /** Key ids in the order when it was last reviewed as ended. */
  orderKeyIds: KeyIds = {};
  private state: PurchaseState = 'PLACING';
  private since = now();
  private explanation = 'the purchase has just started';
  private waitsFor: StatusQueryResult['waitsFor'] = { what: 'the first attempt to place the order', since: this.since };
  private lastPoll: StatusQueryResult['lastPoll'];
  private openHold: Hold | undefined;
  private result: PurchaseResult | undefined;
  private accepted: AcceptedOrder | undefined;

  constructor(readonly input: PurchaseInput) {}

  /** Adopts the recorded settings and shows the first state. */
  begin({ settings, fingerprintSecretId }: WorkerSettings): void {
    this.settings = settings;
    this.fingerprintSecretId = fingerprintSecretId;
    this.show('PLACING', 'the purchase has just started', 'the first attempt to place the order');
  }

  /**
   * Shows a state. It writes only search attributes that changed, because each write is expensive for the server.
   *
   * @param waitsFor what happens next.
   * @param until epoch ms: the wait ends no later than this, if known.
   */
  show(state: PurchaseState, explanation: string, waitsFor: string, until?: number): void {
    if (state !== this.state) this.since = now();
    this.state = state;
    this.showStep(explanation, waitsFor, until);
    this.writeSearchAttributes();
  }

  /** Shows the current step in the UI without writing search attributes. */
  showStep(explanation: string, waitsFor: string, until?: number): void {
    this.explanation = explanation;
    this.waitsFor = {
      what: waitsFor,
      since: now(),
      until: until === undefined ? undefined : new Date(until).toISOString(),
    };
    this.writeDetails();
  }

  private writeSearchAttributes(): void {
    const { typedSearchAttributes: listed } = workflowInfo();
    const { orderId } = this;
    const wanted = [
      { key: REFERENCE_ID, value: this.input.referenceId },
      ...(orderId === undefined ? [] : [{ key: PARTNER_ORDER_ID, value: orderId }]),
      { key: PURCHASE_STATE, value: this.state },
    ];
    const changed = wanted.filter(({ key, value }) => listed.get(key) !== value);
    if (changed.length > 0) upsertSearchAttributes(changed);
  }

  /** @param deadline epoch ms */
  showPending(deadline: number): void {
    const { pollIntervalMs, watch } = this.settings;
    const what = watch === 'history' ? 'looked up in the order history' : 'polled';
    this.show(
      'PENDING',
      `order ${this.orderId} is open at the partner`,
      `${what} every ${pollIntervalMs / 1_000} s until ${formatInstant(deadline)}, then polled once more: OVERDUE if it is still open. ` +
        'This text is not updated by polls. Pending Activities shows the latest attempt, its response and the next attempt',
    );
  }

  /** Shown only if the first, local attempt to deliver the event failed. */
  showDelivering(type: string): void {
    const next = `confirmation from the checkout. The event is retried for ${DELIVERY_RETRY_HOURS} hours with increasing delays; then the purchase is held`;
    this.show('DELIVERING', `${type} is being sent to the checkout`, next);
  }

  notePoll(status: string): void {
    this.lastPoll = { status, at: now() };
  }

  /** Remembers what earlier runs and deliveries left on record, as a poll read it. */
  noteEarlierRuns({ receivedKeyIds, keylessEvents }: PolledOrder): void {
    if (receivedKeyIds) this.receivedKeyIds = receivedKeyIds;
    this.keylessEvents = keylessEvents ?? [];
  }

  /** @param hold the open hold; undefined once it has ended */
  setHold(hold: Hold | undefined): void {
    this.openHold = hold;
    upsertMemo({ hold: hold ?? null, accepted: this.accepted });
  }

  /** Remembers what an operator accepted of the current order. The memo shows it when the hold ends. */
  noteAccepted(what: Accepted): void {
    const { orderId } = this;
    if (orderId === undefined) return;
    this.accepted = { ...this.acceptedOf(orderId), ...what, orderId };
  }

  /** What operators have accepted of this order. */
  acceptedOf(orderId: string | undefined): Accepted | undefined {
    return this.accepted?.orderId === orderId ? this.accepted : undefined;
  }

  noteCancelRequest(): void {
    this.cancelRequested = true;
    this.writeDetails();
  }

  /** Shows the outcome, writes the closing memo and returns the result. */
  close({ outcome, lines: delivered, ordered, totalDebit, reason, adopted }: OutcomeDetails): PurchaseResult {
    const { referenceId, items } = this.input;
    const { orderId } = this;
    // An outcome without keys does not undo what earlier runs delivered.
    const received = keyCount(delivered) > 0 ? delivered : linesOf(this.receivedKeyIds);
    const lines = resultLines(this.input, received);
    const cancelRequested = this.cancelRequested || undefined;
    const result = { referenceId, outcome, orderId, lines, totalDebit, cancelRequested, reason };
    this.result = result;
    this.show(outcome, reason ?? '', '');
    const own = keyIdsOf(delivered);
    const isLaterRun = Object.keys(this.receivedKeyIds).length > 0;
    const memo: PurchaseMemo = {
      totalDebit,
      ordered: ordered ?? totalQuantity(items),
      delivered: keyCount(received),
      keyIds: isLaterRun ? unionOfKeyIds(this.receivedKeyIds, own) : own,
      outcomeKeyIds: isLaterRun ? own : undefined,
      events: this.events,
      accepted: this.accepted,
      adopted,
      reason,
      hold: undefined,
    };
    upsertMemo(memo);
    log.info('purchase ended', { outcome, orderId });
    metrics.count('fulfilment_purchases_ended', { outcome });
    metrics.record('fulfilment_purchase_duration', (Date.now() - firstStartTime()) / 1_000, { outcome });
    if (totalDebit !== undefined) metrics.record('fulfilment_purchase_debit', totalDebit, { outcome });
    return result;
  }

  /** Waits a minute for the attention notices, after the outcome is shown, and adds those received to the memo. */
  async awaitAttentionNotices(): Promise<void> {
    if (this.attentionNotices.size === 0) return;
    const noted = this.events.length;
    const areSent = () => this.attentionNotices.size === 0;
    await condition(areSent, LAST_NOTICES_TIMEOUT_MS);
    for (const notice of this.attentionNotices) notice.cancel();
    await condition(areSent);
    if (this.events.length > noted) upsertMemo({ events: this.events });
  }

  statusQueryResult(): StatusQueryResult {
    const { referenceId, items, maxDebit } = this.input;
    const { state, since, orderId, explanation, lastPoll, cancelRequested, events, result, openHold: hold } = this;
    const waitsFor = result ? undefined : this.waitsFor;
    return {
      referenceId,
      items,
      maxDebit,
      state,
      since,
      orderId,
      explanation,
      waitsFor,
      hold,
      lastPoll,
      cancelRequested,
      events,
      result,
    };
  }

  private writeDetails(): void {
    setCurrentDetails(describeStatus(this.statusQueryResult()));
  }
}

/** The id of this run, recorded now. After a reset, `workflowInfo()` would return the old run's id during replay. */
export async function currentRunId(): Promise<string> {
  return (await readRunId.executeWithOptions({ summary: 'the id of this run' }, [])).runId;
}

/** Whether the client that started this purchase rejected duplicates of its reference. */
export function wasStartedWithRejectDuplicate(): boolean {
  return workflowInfo().memo?.[STARTED_WITH_REJECT_DUPLICATE] === true;
}

/** Epoch ms: when the first run of this purchase started. */
export function firstStartTime(): number {
  return workflowInfo().startTime.getTime();
}

function linesOf(keyIds: KeyIds): SaleLine[] {
  return Object.entries(keyIds).map(([productId, ids]) => ({ productId, quantity: ids.length, keyIds: ids }));
}

/** The ordered products, followed by others that an operator accepted. */
function resultLines({ items }: PurchaseInput, delivered: readonly SaleLine[]): PurchaseLine[] {
  const notBought = delivered.filter((line) => !items.some((item) => item.productId === line.productId));
  return [...items, ...notBought].map(({ productId, quantity }) => {
    const own = delivered.filter((line) => line.productId === productId);
    const title = own.find((line) => line.title !== undefined)?.title;
    return { productId, title, quantity, delivered: keyCount(own) };
  });
}

/**
 * The wanted delay before a repetition, in ms, or a longer delay that keeps the history bounded (`delayFloorMs`).
 *
 * @param untilMs epoch ms: the delay is never lengthened beyond this.
 */
export function boundedHistoryDelayMs(wantedMs: number, untilMs: number): number {
  const floor = Math.min(delayFloorMs(workflowInfo().historyLength), untilMs - Date.now());
  return Math.max(wantedMs, floor);
}

function now(): string {
  return new Date().toISOString();
}
