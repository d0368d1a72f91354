import {
  ApplicationFailure,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  sleep,
  upsertMemo,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities, DeliverInput, DeliveryResult } from '../contracts/activities';
import { FAILURE, type FailureType } from '../contracts/failures';
import type { DeliveryMemo, PurchaseSettings, ReceivedEvent } from '../contracts/purchase';
import { PURCHASE_STATE, REFERENCE_ID } from '../contracts/search-attributes';
import { formatInstant } from '../contracts/format-instant';
import { type KeyIds, keyIdsOf, missingKeyIds, unionOfKeyIds } from '../domain/key-ids';
import { canStopPolling, mayHaveKeys } from '../domain/order';
import { escapeMarkdown } from '../domain/text-format';
import { type EndedPurchase, planDelivery, stateAfter } from '../domain/plan-delivery';
import { deliverWithRetries, keysGoneDetails, MAX_REPEATED_REVIEWS, sendAttentionNotice } from './deliver-events';
import { isEndedPurchase, validateDeliverInput } from './guards';
import {
  attentionNoticeOptions,
  DELIVERY_RETRY_HOURS,
  LAST_NOTICES_TIMEOUT_MS,
  localOptions,
  readEndedPurchaseOptions,
} from './policies';

/**
 * Brings the checkout up to date after a purchase has ended: with late keys, a refund, or everything once more.
 *
 * @param given the reference of a purchase. It contains no event data, because any client could have forged it.
 * @returns what the checkout received.
 * @throws ApplicationFailure `NothingToDeliver`; `InvalidDelivery` if the input names no purchase; `DeliveryRefused`,
 *   `DeliveryFailed` after 25 hours, `OrderTooLarge` or `OrderChanges` if the event could not be delivered.
 */
export async function deliverWorkflow(given: DeliverInput): Promise<DeliveryResult> {
  const input = validateDeliverInput(given);
  const { referenceId } = input;
  upsertSearchAttributes([{ key: REFERENCE_ID, value: referenceId }]);
  const { readSettings } = proxyLocalActivities<Activities>(localOptions);
  const { settings } = await readSettings.executeWithOptions({ summary: 'read the settings' }, []);

  const notices: Promise<unknown>[] = [];
  try {
    return await deliverCurrent(settings, input, notices);
  } finally {
    // Notices are sent in parallel, so that they never delay an event.
    await Promise.all(notices);
  }
}

async function deliverCurrent(
  settings: PurchaseSettings,
  input: DeliverInput,
  notices: Promise<unknown>[],
): Promise<DeliveryResult> {
  const { referenceId } = input;
  // Keys that were sent without a confirmation.
  let possiblyReceived: KeyIds = {};
  for (let repeatedReviews = 0; ; repeatedReviews++) {
    const loaded = await loadEndedPurchase(settings, input);
    // The reconciliation has already reported those that the checkout received before; only `redeliver` has not.
    const sent = input.again && repeatedReviews === 0 ? loaded.receivedKeyIds : possiblyReceived;
    const gone = goneKeys(loaded, sent);
    if (gone.length > 0) notices.push(notifyKeysGone(settings, loaded, gone));
    const ended = { ...loaded, keysMayHaveArrived: Object.keys(possiblyReceived).length > 0 };
    const plan = planDelivery(ended, input.again === true);
    const { order } = ended;
    const shown = order && { id: order.orderId, status: order.status };
    if (plan.kind === 'issue') return endDelivery(ended, [], shown && { ...shown, issue: plan.issue });
    if (plan.kind === 'nothing') {
      if (input.again) throw deliveryFailure(FAILURE.nothingToDeliver, plan.reason);
      return endDelivery(ended, [], shown);
    }
    const { runId: afterRunId, keylessEvents } = ended;
    const event = { ...plan.event, afterRunId, firstRunId: workflowInfo().firstExecutionRunId, keylessEvents };
    const showDelivering = (type: string) => showDelivery(referenceId, type);
    const end = await deliverWithRetries({ settings, showDelivering }, event, false);
    switch (end.kind) {
      case 'RECEIVED': {
        const keyIds = unionOfKeyIds(ended.receivedKeyIds, keyIdsOf(plan.event.lines ?? []));
        // The purchase has ended, so its own attributes can no longer change.
        upsertSearchAttributes([{ key: PURCHASE_STATE, value: stateAfter(plan) }]);
        return endDelivery({ ...ended, receivedKeyIds: keyIds }, [end.event], shown, plan.ordered);
      }
      case 'REFUSED':
        throw deliveryFailure(FAILURE.deliveryRefused, 'the checkout rejected the event permanently (410)');
      case 'EXHAUSTED':
        throw deliveryFailure(FAILURE.deliveryFailed, end.reason);
      case 'TOO_LARGE':
        throw deliveryFailure(FAILURE.orderTooLarge, end.reason);
      case 'CHANGED':
        if (end.eventMayHaveArrived)
          possiblyReceived = unionOfKeyIds(possiblyReceived, keyIdsOf(plan.event.lines ?? []));
        if (repeatedReviews >= MAX_REPEATED_REVIEWS)
          throw deliveryFailure(FAILURE.orderChanges, 'the order kept changing');
        await sleep(settings.pollIntervalMs, { summary: 'before the order is reviewed again' });
    }
  }
}

async function loadEndedPurchase(settings: PurchaseSettings, input: DeliverInput): Promise<EndedPurchase> {
  const { readEndedPurchase } = proxyActivities<Activities>(readEndedPurchaseOptions(settings));
  const { referenceId } = input;
  setCurrentDetails(
    `**DELIVERING** what has changed since purchase ${escapeMarkdown(referenceId)} ended. ` +
      'The purchase and its order are being read. **Next:** the checkout is brought up to date.',
  );
  const read: unknown = await readEndedPurchase.executeWithOptions({ summary: 'read the purchase and its order' }, [
    input,
  ]);
  if (isEndedPurchase(referenceId, read)) return read;
  throw deliveryFailure(FAILURE.invalidDelivery, 'an operator completed the activity that reads the purchase by hand');
}

/** Those of these keys that are no longer in the order. An open order proves nothing about its keys. */
function goneKeys({ order }: EndedPurchase, keyIds: KeyIds): string[] {
  return order && canStopPolling(order.status) ? missingKeyIds(keyIds, keyIdsOf(order.lines)) : [];
}

async function notifyKeysGone(
  settings: PurchaseSettings,
  ended: EndedPurchase,
  gone: readonly string[],
): Promise<void> {
  const { referenceId, orderId } = ended;
  const data = { referenceId, orderId, kind: 'DELIVERED_KEYS_GONE', details: keysGoneDetails(gone) } as const;
  const options = { ...attentionNoticeOptions(settings), scheduleToCloseTimeout: LAST_NOTICES_TIMEOUT_MS };
  // It fails only if this workflow is cancelled.
  await sendAttentionNotice({ events: [] }, data, options).catch(() => undefined);
}

/** Records what the checkout received, and builds the result. */
function endDelivery(
  ended: EndedPurchase & { keysMayHaveArrived: boolean },
  events: ReceivedEvent[],
  order: DeliveryResult['order'],
  ordered?: number,
): DeliveryResult {
  const { referenceId, receivedKeyIds, orderId, keysMayHaveArrived } = ended;
  const memo = {
    events,
    keyIds: receivedKeyIds,
    goneKeyIds: ended.order && mayHaveKeys(ended.order.status) ? goneKeys(ended, receivedKeyIds) : undefined,
    ordered,
    orderId,
    keysMayHaveArrived: keysMayHaveArrived || undefined,
  };
  upsertMemo(memo satisfies DeliveryMemo);
  const lines = events.map(({ type, id }) => `- ${type} (${escapeMarkdown(id)})`);
  setCurrentDetails(
    `**RECEIVED** by the checkout for ${escapeMarkdown(referenceId)}:\n\n${lines.join('\n') || 'nothing new'}`,
  );
  return { events, order };
}

function showDelivery(referenceId: string, type: string): void {
  setCurrentDetails(
    `**DELIVERING** since ${formatInstant(Date.now())}: ${type} for ${escapeMarkdown(referenceId)} to the checkout.\n\n` +
      `**Next:** confirmation from the checkout. The event is retried for ${DELIVERY_RETRY_HOURS} hours with increasing delays; then this workflow fails.`,
  );
}

function deliveryFailure(type: FailureType, reason: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(reason, type);
}
