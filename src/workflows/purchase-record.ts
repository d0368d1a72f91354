import {
  log,
  proxyLocalActivities,
  setCurrentDetails,
  upsertMemo,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../contracts/activities';
import type { Alert, DeliveryRequest, EarlierEvent, ReceivedEvent } from '../contracts/checkout-events';
import type {
  PurchaseInput,
  PurchaseLine,
  PurchaseMemo,
  PurchaseResult,
  PurchaseSettings,
} from '../contracts/purchase';
import { PARTNER_ORDER_ID, PURCHASE_STATE, REFERENCE_ID } from '../contracts/search-attributes';
import type { EventLine } from '../domain/assess-order';
import type { PurchaseOutcome } from '../domain/outcome';
import { HoldDesk } from './holds';
import { recorded } from './policies';

const { readSettings } = proxyLocalActivities<Activities>(recorded);

/** Where a purchase stands, as lists show it: one of ours, or the partner's status while its order is open. */
export type PurchaseState = 'PLACING' | 'UNCONFIRMED' | 'HELD' | 'DELIVERING' | PurchaseOutcome | (string & {});

/** How a purchase ends, before the checkout has been told. */
export interface Ending {
  outcome: PurchaseOutcome;
  /** What is to be handed over: empty for every outcome without keys. */
  lines: EventLine[];
  totalDebit?: number;
  reason?: string;
  /** After a reset: what went out before it. */
  earlier?: EarlierEvent[];
}

/**
 * What the story knows of its purchase and shows of it: search attributes, memo, the details in the UI.
 * Nothing here decides anything.
 */
export class PurchaseRecord {
  readonly holds: HoldDesk;
  cancelRequested = false;
  orderId: string | undefined;
  /** What a person must see but need not decide; told to the checkout after the outcome. */
  readonly attentions: Alert[] = [];
  private state: PurchaseState | undefined;
  private readonly events: ReceivedEvent[] = [];

  constructor(
    readonly input: PurchaseInput,
    readonly settings: PurchaseSettings,
  ) {
    this.holds = new HoldDesk();
  }

  /** Shows a new state. The search attributes that every purchase has come with the first. */
  enter(state: PurchaseState, details: string): void {
    setCurrentDetails(`**${state}** ${details}`);
    if (state === this.state) return;
    const first = this.state === undefined;
    this.state = state;
    const stateNow = { key: PURCHASE_STATE, value: state };
    upsertSearchAttributes(first ? [{ key: REFERENCE_ID, value: this.input.referenceId }, stateNow] : [stateNow]);
  }

  /** Shows that the partner has an order for this purchase. */
  hasOrder(orderId: string): void {
    this.orderId = orderId;
    this.state = 'PENDING';
    setCurrentDetails(`**PENDING** order ${orderId} at the partner`);
    upsertSearchAttributes([
      { key: PARTNER_ORDER_ID, value: orderId },
      { key: PURCHASE_STATE, value: 'PENDING' },
    ]);
  }

  /** Notes what a person must see but need not decide; it is told after the outcome. */
  attention(kind: string, details: Record<string, string | number | string[]>): void {
    this.attentions.push({ kind, details });
  }

  /** The checkout has an event. */
  told(id: string, request: DeliveryRequest): void {
    this.events.push({ id, type: request.type, at: request.at });
  }

  /** Shows how it ended and returns the result. */
  close(ending: Ending): PurchaseResult {
    const lines = resultLines(this.input, ending.lines);
    const result = withoutUndefined({
      referenceId: this.input.referenceId,
      outcome: ending.outcome,
      orderId: this.orderId,
      lines,
      totalDebit: ending.totalDebit,
      cancelRequested: this.cancelRequested || undefined,
      reason: ending.reason,
    });
    this.enter(ending.outcome, ending.reason ?? '');
    upsertMemo(withoutUndefined(this.closingMemo(ending, lines)) as Record<string, unknown>);
    log.info('purchase ended', { outcome: ending.outcome, orderId: this.orderId });
    return result;
  }

  private closingMemo(ending: Ending, lines: PurchaseLine[]): PurchaseMemo {
    const kept = ending.lines.filter((line) => line.fingerprints.length > 0);
    return {
      totalDebit: ending.totalDebit,
      ordered: lines.reduce((total, line) => total + line.quantity, 0),
      delivered: lines.reduce((total, line) => total + line.delivered, 0),
      fingerprints: Object.fromEntries(kept.map((line) => [line.productId, line.fingerprints])),
      events: this.events,
    };
  }
}

/** Opens the record: settings recorded, state `PLACING`, handlers registered, the wish to cancel heard. */
export async function openPurchase(input: PurchaseInput, wish: Promise<never>): Promise<PurchaseRecord> {
  const heard = { cancel: false };
  let purchase: PurchaseRecord | undefined;
  wish.catch(() => {
    heard.cancel = true;
    if (purchase) purchase.cancelRequested = true;
  });
  const { settings } = await readSettings();
  purchase = new PurchaseRecord(input, settings);
  purchase.cancelRequested = heard.cancel;
  purchase.enter('PLACING', `${describeItems(input)} at the partner`);
  return purchase;
}

/** Closes the record: outcome shown, memo written. */
export function closePurchase(purchase: PurchaseRecord, ending: Ending): PurchaseResult {
  return purchase.close(ending);
}

/** The items in words, such as `2 × steam-50, 1 × xbox-20`. */
export function describeItems(input: PurchaseInput): string {
  const shown = input.items.slice(0, 5).map((item) => `${item.quantity} × ${item.productId}`);
  const more = input.items.length - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
}

/** When this purchase began, whatever run this is: epoch ms. */
export function firstStart(): number {
  return workflowInfo().startTime.getTime();
}

/** Ordered products first; what a person accepted beyond them follows. */
function resultLines(input: PurchaseInput, judged: readonly EventLine[]): PurchaseLine[] {
  const ordered = input.items.map((item) => ({ productId: item.productId, quantity: item.quantity }));
  const foreign = judged.filter((line) => !input.items.some((item) => item.productId === line.productId));
  return [...ordered, ...foreign].map(({ productId, quantity }) => {
    const own = judged.filter((line) => line.productId === productId);
    const delivered = own.reduce((total, line) => total + line.fingerprints.length, 0);
    const title = own.find((line) => line.title !== undefined)?.title;
    return withoutUndefined({ productId, title, quantity, delivered });
  });
}

function withoutUndefined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined)) as T;
}
