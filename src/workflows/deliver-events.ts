import {
  ActivityFailure,
  type ActivityOptions,
  ApplicationFailure,
  CancellationScope,
  log,
  proxyActivities,
  proxyLocalActivities,
  sleep,
  TemporalFailure,
} from '@temporalio/workflow';
import type { Activities, Notice, SaleDeliveryAttemptResult } from '../contracts/activities';
import type { AttentionData, EventDetails } from '../contracts/events';
import { FAILURE, retryDelayOf } from '../contracts/failures';
import type { AttentionKind } from '../contracts/public-types';
import type { Hold } from '../contracts/purchase';
import { keyCount } from '../domain/key-ids';
import type { SaleEvent } from '../domain/plan-delivery';
import { pluralize, toSingleLine } from '../domain/text-format';
import { isDeliveryAttemptResult, isSaleDeliveryAttemptResult } from './guards';
import { attentionNoticeOptions, deliveryAttemptMs, deliveryOptions, firstDeliveryOptions } from './policies';
import type { PurchaseRecord } from './purchase-record';

const local = proxyLocalActivities<Activities>(firstDeliveryOptions);

/** The most key ids in an attention notice. */
const MAX_SHOWN_KEYS = 20;
/** Characters. */
const MAX_ERROR_LENGTH = 300;
/** How many times a changed order is reviewed again. */
export const MAX_REPEATED_REVIEWS = 3;

/**
 * How a delivery ended. `EXHAUSTED`: it was retried for 25 hours, or an operator ended it before the checkout confirmed
 * it. `TOO_LARGE`: the order has grown beyond PARTNER_MAX_BODY.
 */
export type SaleDeliveryEnd = SaleDeliveryAttemptResult | { kind: 'EXHAUSTED' | 'TOO_LARGE'; reason: string };

/**
 * Delivers one event about a sale, and retries for 25 hours. The checkout may receive the event several times. This is
 * harmless, because a key has the same id in every event.
 *
 * @param mayBeLocal whether the first attempt may be a local activity, which needs fewer history events.
 */
export async function deliverWithRetries(
  sender: Pick<PurchaseRecord, 'settings' | 'showDelivering'>,
  event: SaleEvent,
  mayBeLocal: boolean,
): Promise<SaleDeliveryEnd> {
  const summary = deliverySummary(event);
  let mayHaveArrivedLocally = false;
  let retryAfterMs = 0;
  // The history shows an event without keys before it is sent, so that a run after a reset does not contradict it.
  if (mayBeLocal && keyCount(event.lines ?? []) > 0) {
    const first = await deliverLocally(event, summary);
    if (first.kind !== 'FAILED') return first;
    mayHaveArrivedLocally = true;
    ({ retryAfterMs } = first);
  }
  sender.showDelivering(event.type);
  const beganAt = Date.now();
  if (retryAfterMs > 0) await sleep(retryAfterMs, { summary: 'delay requested by the checkout or the partner' });
  const { deliverSale } = proxyActivities<Activities>(deliveryOptions(sender.settings));
  let end: SaleDeliveryEnd;
  try {
    const delivered = await deliverSale.executeWithOptions({ summary }, [event]);
    end = isSaleDeliveryAttemptResult(delivered) ? delivered : ENDED_BY_OPERATOR;
  } catch (failure) {
    end = endAfterFailure(failure, beganAt);
  }
  if (end.kind === 'CHANGED') return { ...end, eventMayHaveArrived: mayHaveArrivedLocally || end.eventMayHaveArrived };
  // The last attempt may still be running. Nobody should decide to withhold keys that it is about to deliver.
  if (end.kind === 'EXHAUSTED') {
    await sleep(deliveryAttemptMs(sender.settings), { summary: 'until no attempt can still be running' });
  }
  return end;
}

function endAfterFailure(failure: unknown, beganAt: number): SaleDeliveryEnd {
  const cause = failure instanceof ActivityFailure ? failure.cause : undefined;
  if (cause instanceof ApplicationFailure && cause.type === FAILURE.orderTooLarge) {
    return { kind: 'TOO_LARGE', reason: cause.message };
  }
  if (cause instanceof ApplicationFailure && cause.nonRetryable === true) return ENDED_BY_OPERATOR;
  const reason = `the event was retried for ${hoursSince(beganAt)} and not confirmed${lastError(cause)}`;
  return { kind: 'EXHAUSTED', reason };
}

/** The cause may be the partner, from which the keys are read. An operator can write a message of any length. */
function lastError(cause: unknown): string {
  return cause instanceof ApplicationFailure ? `; last error: ${toSingleLine(cause.message, MAX_ERROR_LENGTH)}` : '';
}

/** Usually `DELIVERY_RETRY_HOURS`, unless an operator has changed the activity's options. */
function hoursSince(beganAt: number): string {
  const hours = Math.round((Date.now() - beganAt) / 3_600_000);
  return hours < 1 ? 'less than an hour' : pluralize(hours, 'hour');
}

const ENDED_BY_OPERATOR = {
  kind: 'EXHAUSTED',
  reason: 'an operator ended the delivery of the event before the checkout confirmed it, so it may have arrived',
} as const;

/**
 * Whatever the reason, the event may have reached the checkout: the attempt may repeat one whose worker died, and the
 * history doesn't show it. `retryAfterMs`: the delay that was asked for, or 0.
 */
type LocalFailure = { kind: 'FAILED'; retryAfterMs: number };

async function deliverLocally(event: SaleEvent, summary: string): Promise<SaleDeliveryAttemptResult | LocalFailure> {
  try {
    return await local.deliverSale.executeWithOptions({ summary }, [{ ...event, decidedAt: Date.now() }]);
  } catch (failure) {
    // The failure of a local activity is not wrapped in an ActivityFailure.
    if (!(failure instanceof TemporalFailure)) throw failure;
    const retryAfterMs = failure instanceof ApplicationFailure ? retryDelayOf(failure) : 0;
    return { kind: 'FAILED', retryAfterMs };
  }
}

function deliverySummary({ type, lines = [] }: SaleEvent): string {
  const keys = keyCount(lines);
  return keys > 0 ? `${type}, keys: ${keys}` : type;
}

/** Notifies the checkout of a hold, and retries for 25 hours. */
export async function notifyHeld(purchase: PurchaseRecord, hold: Hold): Promise<void> {
  const { settings, input, orderId } = purchase;
  const { id: subject, reason, explanation, decisions } = hold;
  const data = { referenceId: input.referenceId, orderId, reason, explanation, decisions };
  await deliverNotice(purchase, { type: 'purchase.held', subject, data }, 'purchase.held', deliveryOptions(settings));
}

/**
 * Sends the checkout an attention notice, which needs no decision. Retries until the purchase ends, but never delays an
 * outcome.
 */
export function startAttentionNotice(
  purchase: PurchaseRecord,
  kind: AttentionKind,
  details: EventDetails,
  orderId: string | undefined = purchase.orderId,
): void {
  const { settings, input } = purchase;
  const data = { referenceId: input.referenceId, orderId, kind, details };
  const scope = new CancellationScope();
  purchase.attentionNotices.add(scope);
  void scope
    .run(() => sendAttentionNotice(purchase, data, attentionNoticeOptions(settings)))
    .finally(() => purchase.attentionNotices.delete(scope));
}

/** Sends the checkout an attention notice, and logs an error if the checkout does not accept it. */
export async function sendAttentionNotice(
  sender: Pick<PurchaseRecord, 'events'>,
  data: AttentionData,
  options: ActivityOptions,
): Promise<void> {
  const { kind, details } = data;
  const notice = { type: 'purchase.attention', subject: JSON.stringify([kind, details]), data } as const;
  try {
    if (await deliverNotice(sender, notice, `purchase.attention: ${kind}`, options)) return;
  } catch (failure) {
    if (!(failure instanceof ActivityFailure)) throw failure;
  }
  log.error('the checkout did not accept an attention notice', { kind });
}

/** The details of the attention notice `DELIVERED_KEYS_GONE`. */
export function keysGoneDetails(gone: readonly string[]): EventDetails {
  return { keyIds: gone.slice(0, MAX_SHOWN_KEYS), count: gone.length };
}

/** @returns whether the checkout received the notice. */
async function deliverNotice(
  { events }: Pick<PurchaseRecord, 'events'>,
  notice: Notice,
  summary: string,
  options: ActivityOptions,
): Promise<boolean> {
  const { deliverNotice: deliver } = proxyActivities<Activities>(options);
  const delivered = await deliver.executeWithOptions({ summary }, [notice]);
  if (!isDeliveryAttemptResult(delivered) || delivered.kind !== 'RECEIVED') return false;
  events.push(delivered.event);
  return true;
}
