import {
  log,
  proxyLocalActivities,
  setCurrentDetails,
  upsertMemo,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../contracts/activities';
import type { Alert, EarlierEvent } from '../contracts/checkout-events';
import type {
  PurchaseInput,
  PurchaseLine,
  PurchaseMemo,
  PurchaseResult,
  PurchaseSettings,
  ReceivedEvent,
} from '../contracts/purchase';
import { PARTNER_ORDER_ID, PURCHASE_STATE, REFERENCE_ID } from '../contracts/search-attributes';
import type { EventLine } from '../domain/assess-order';
import type { PurchaseOutcome } from '../domain/outcome';
import { fingerprintsByProduct, keyCount, totalQuantity } from '../domain/line-totals';
import { describeItems } from '../domain/purchase-rules';
import { localOptions } from './policies';

const { readSettings } = proxyLocalActivities<Activities>(localOptions);

/** Where a purchase stands, as lists show it: one of ours, or the partner's status while its order is open. */
export type PurchaseState = 'PLACING' | 'UNCONFIRMED' | 'HELD' | 'DELIVERING' | PurchaseOutcome | (string & {});

/** How a purchase ends. */
export interface OutcomeDetails {
  outcome: PurchaseOutcome;
  /** What is to be handed over: empty for every outcome without keys. */
  lines: EventLine[];
  totalDebit?: number;
  reason?: string;
  /** After a reset: what was sent before it. */
  earlier?: EarlierEvent[];
}

/** Whether somebody has asked to cancel. */
export interface CancelRequest {
  received: boolean;
}

/**
 * What is known of a purchase, and shown of it: search attributes, memo, the details in the UI. Nothing here decides
 * anything.
 */
export class PurchaseRecord {
  orderId: string | undefined;
  /** What a person must see but need not decide; the checkout is notified after the outcome. */
  readonly alerts: Alert[] = [];
  private state: PurchaseState | undefined;
  private readonly events: ReceivedEvent[] = [];

  constructor(
    readonly input: PurchaseInput,
    readonly settings: PurchaseSettings,
    private readonly cancelRequest: CancelRequest,
  ) {}

  get cancelRequested(): boolean {
    return this.cancelRequest.received;
  }

  /** Shows a new state. The search attributes that every purchase has come with the first. */
  show(state: PurchaseState, details: string): void {
    setCurrentDetails(`**${state}** ${details}`);
    if (state === this.state) return;
    const first = this.state === undefined;
    this.state = state;
    const stateNow = { key: PURCHASE_STATE, value: state };
    upsertSearchAttributes(first ? [{ key: REFERENCE_ID, value: this.input.referenceId }, stateNow] : [stateNow]);
  }

  /** Shows that the partner has an order for this purchase. */
  showOrder(orderId: string): void {
    this.orderId = orderId;
    this.state = 'PENDING';
    setCurrentDetails(`**PENDING** order ${orderId} at the partner`);
    upsertSearchAttributes([
      { key: PARTNER_ORDER_ID, value: orderId },
      { key: PURCHASE_STATE, value: 'PENDING' },
    ]);
  }

  /** What every event of this purchase begins with. It happens now. */
  eventHeader(): { at: string; referenceId: string; orderId?: string } {
    return { at: new Date().toISOString(), referenceId: this.input.referenceId, orderId: this.orderId };
  }

  /** Notes what a person must see but need not decide. */
  alert(kind: string, details: Alert['details']): void {
    this.alerts.push({ kind, details });
  }

  /** Notes an event that the checkout has received. */
  noteReceived(event: ReceivedEvent): void {
    this.events.push(event);
  }

  /** Shows the outcome, writes the closing memo and returns the result. */
  close({ outcome, lines: handedOver, totalDebit, reason }: OutcomeDetails): PurchaseResult {
    const { referenceId } = this.input;
    const { orderId, events } = this;
    const lines = resultLines(this.input, handedOver);
    this.show(outcome, reason ?? '');
    upsertMemo({
      totalDebit,
      ordered: totalQuantity(lines),
      delivered: lines.reduce((total, line) => total + line.delivered, 0),
      fingerprints: fingerprintsByProduct(handedOver),
      events,
    } satisfies PurchaseMemo);
    log.info('purchase ended', { outcome, orderId });
    const cancelRequested = this.cancelRequested || undefined;
    return { referenceId, outcome, orderId, lines, totalDebit, cancelRequested, reason };
  }
}

/** Records the settings, and shows the first state. */
export async function openPurchase(input: PurchaseInput, cancelRequest: CancelRequest): Promise<PurchaseRecord> {
  const { settings } = await readSettings();
  const purchase = new PurchaseRecord(input, settings, cancelRequest);
  purchase.show('PLACING', `${describeItems(input.items)} at the partner`);
  return purchase;
}

/** When this purchase began, whatever run this is: epoch ms. */
export function firstStart(): number {
  return workflowInfo().startTime.getTime();
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
