import {
  log,
  metricMeter,
  proxyLocalActivities,
  setCurrentDetails,
  upsertMemo,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities, WorkerSettings } from '../contracts/activities';
import { metricsOf } from '../contracts/metrics';
import type {
  AcceptedOrder,
  HoldNotice,
  PurchaseInput,
  PurchaseLine,
  PurchaseMemo,
  PurchaseResult,
  PurchaseSettings,
  ReceivedEvent,
  StatusAnswer,
} from '../contracts/purchase';
import { PARTNER_ORDER_ID, PURCHASE_STATE, REFERENCE_ID } from '../contracts/search-attributes';
import { type KeyIds, keyCount, keyIdsOf, totalQuantity, unionOfKeys } from '../domain/line-totals';
import type { PurchaseOutcome, PurchaseState } from '../domain/purchase-state';
import type { Accepted, SaleLine } from '../domain/review-order';
import { describeStatus, instant } from './describe-status';
import { localOptions, pauseFloor } from './policies';

/** Records nothing during a replay. A repeated workflow task records again. */
export const metrics = metricsOf(metricMeter);

const { currentRun } = proxyLocalActivities<Activities>(localOptions);

/** How a purchase ends. */
export interface OutcomeDetails {
  outcome: PurchaseOutcome;
  /** The status of the order as it was reviewed. */
  status?: string;
  /** The sale with its keys: empty for every outcome without keys. */
  lines: SaleLine[];
  /** How many keys its order is to bring; absent: as many as were bought. */
  ordered?: number;
  totalDebit?: number;
  reason?: string;
}

/** What is known about a purchase, and shown of it: the query `status`, the details in the Temporal UI, search attributes, memo. */
export class PurchaseRecord {
  /** Set by `open`, before anything else asks for them. */
  settings!: PurchaseSettings;
  fingerprintSecretId!: string;
  /** The order that the partner has for the purchase. The next state that is shown shows it, too. */
  orderId: string | undefined;
  cancelRequested = false;
  /** Alerts on their way to the checkout. */
  readonly alerts: Promise<void>[] = [];
  /** What the checkout has received. */
  readonly events: ReceivedEvent[] = [];
  /** The ids of the keys that earlier runs and deliveries had confirmed. */
  confirmedKeyIds: KeyIds = {};
  private state: PurchaseState = 'PLACING';
  private since = now();
  private explanation = 'it has just begun';
  private waitsFor: StatusAnswer['waitsFor'] = { what: 'a worker to begin', since: this.since };
  private lastPoll: StatusAnswer['lastPoll'];
  private holdNotice: HoldNotice | undefined;
  private result: PurchaseResult | undefined;
  private accepted: AcceptedOrder | undefined;

  constructor(readonly input: PurchaseInput) {}

  /** Takes over the settings, which are on record, and shows the first state. */
  open({ settings, fingerprintSecretId }: WorkerSettings): void {
    this.settings = settings;
    this.fingerprintSecretId = fingerprintSecretId;
    this.show('PLACING', 'it has just begun', 'its first attempt at placing the order');
  }

  /**
   * Shows a state. The search attributes that lists do not show yet are written with it: each write costs the server.
   *
   * @param waitsFor what comes next.
   * @param until epoch ms: when that is over at the latest, if it is known.
   */
  show(state: PurchaseState, explanation: string, waitsFor: string, until?: number): void {
    if (state !== this.state) this.since = now();
    this.state = state;
    this.showStep(explanation, waitsFor, until);
    this.list();
  }

  /** Shows what is being done just now, without a word to lists. */
  showStep(explanation: string, waitsFor: string, until?: number): void {
    this.explanation = explanation;
    this.waitsFor = {
      what: waitsFor,
      since: now(),
      until: until === undefined ? undefined : new Date(until).toISOString(),
    };
    this.render();
  }

  private list(): void {
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

  /** Shows that the order is open. @param deadline epoch ms */
  showWaiting(deadline: number): void {
    const { pollIntervalMs, watch } = this.settings;
    const what = watch === 'history' ? 'looked up in the order history' : 'polled';
    const polls = `${what} every ${pollIntervalMs / 1_000} s (the pending activity has the last answer),`;
    this.show(
      'PENDING',
      `order ${this.orderId} is open at the partner`,
      `${polls} and polled once more at ${instant(deadline)}: OVERDUE if it is still open then`,
    );
  }

  /** Shows that an event takes longer to reach the checkout. */
  showDelivering(type: string): void {
    const next = 'its receipt. Tried for a day, with growing pauses; then held';
    this.show('DELIVERING', `${type} is sent to the checkout`, next);
  }

  /** Notes what a poll of the order has shown. */
  notePoll(status: string): void {
    this.lastPoll = { status, at: now() };
  }

  /** Notes the hold that waits for a decision, or that there is none any more. */
  noteHold(hold: HoldNotice | undefined): void {
    this.holdNotice = hold;
    upsertMemo({ hold: hold ?? null, accepted: this.accepted });
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

  noteCancelRequest(): void {
    this.cancelRequested = true;
    this.render();
  }

  /** Shows the outcome, writes the closing memo and returns the result. */
  close({ outcome, lines: delivered, ordered, totalDebit, reason }: OutcomeDetails): PurchaseResult {
    const { referenceId, items } = this.input;
    const { orderId } = this;
    const lines = resultLines(this.input, delivered);
    const cancelRequested = this.cancelRequested || undefined;
    const result = { referenceId, outcome, orderId, lines, totalDebit, cancelRequested, reason };
    this.result = result;
    this.show(outcome, reason ?? '', '');
    const own = keyIdsOf(delivered);
    const isLaterRun = Object.keys(this.confirmedKeyIds).length > 0;
    const memo: PurchaseMemo = {
      totalDebit,
      ordered: ordered ?? totalQuantity(items),
      delivered: keyCount(delivered),
      keyIds: isLaterRun ? unionOfKeys(this.confirmedKeyIds, own) : own,
      outcomeKeyIds: isLaterRun ? own : undefined,
      events: this.events,
      accepted: this.accepted,
      reason,
      hold: undefined,
    };
    upsertMemo(memo);
    log.info('purchase ended', { outcome, orderId });
    metrics.count('fulfilment_purchases_ended', { outcome });
    metrics.record('fulfilment_purchase_duration', (Date.now() - firstStart()) / 1_000, { outcome });
    if (totalDebit !== undefined) metrics.record('fulfilment_purchase_debit', totalDebit, { outcome });
    return result;
  }

  /** Waits for the alerts, within a minute and after the outcome is shown, and notes those that the checkout has received since. */
  async alertsEnded(): Promise<void> {
    const noted = this.events.length;
    await Promise.all(this.alerts);
    if (this.events.length > noted) upsertMemo({ events: this.events });
  }

  /** The answer to the query `status`. */
  answer(): StatusAnswer {
    const { referenceId, items, maxDebit } = this.input;
    const { state, since, orderId, explanation, lastPoll, cancelRequested, events, result, holdNotice: hold } = this;
    const waitsFor = result ? undefined : this.waitsFor;
    return {
      ...{ referenceId, items, maxDebit, state, since, orderId, explanation, waitsFor },
      ...{ hold, lastPoll, cancelRequested, events, result },
    };
  }

  private render(): void {
    setCurrentDetails(describeStatus(this.answer()));
  }
}

/** The run this is, as recorded now: after a reset, code before this replays the run before. */
export async function currentRunId(): Promise<string> {
  return (await currentRun.executeWithOptions({ summary: 'which run this is' }, [])).runId;
}

/** When this purchase began, whatever run this is: epoch ms. */
export function firstStart(): number {
  return workflowInfo().startTime.getTime();
}

/** Ordered products first; what an operator accepted beyond them follows. */
function resultLines({ items }: PurchaseInput, delivered: readonly SaleLine[]): PurchaseLine[] {
  const foreign = delivered.filter((line) => !items.some((item) => item.productId === line.productId));
  return [...items, ...foreign].map(({ productId, quantity }) => {
    const own = delivered.filter((line) => line.productId === productId);
    const title = own.find((line) => line.title !== undefined)?.title;
    return { productId, title, quantity, delivered: keyCount(own) };
  });
}

/**
 * The pause in ms before the workflow does something again, long enough that its history stays bounded (`pauseFloor`).
 *
 * @param untilMs epoch ms: the repetition ends then, and the floor never delays beyond that.
 */
export function boundedPause(wantedMs: number, untilMs: number): number {
  const floor = Math.min(pauseFloor(workflowInfo().historyLength), untilMs - Date.now());
  return Math.max(wantedMs, floor);
}

function now(): string {
  return new Date().toISOString();
}
