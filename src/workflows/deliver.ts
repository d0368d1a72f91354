import {
  ApplicationFailure,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  upsertMemo,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities, DeliveryPlan, DeliveryReport, KeyDelivery } from '../contracts/activities';
import type { DeliveryRequest } from '../contracts/checkout-events';
import { FAILURE } from '../contracts/failures';
import type { DeliveryMemo, PurchaseSettings, ReceivedEvent } from '../contracts/purchase';
import { REFERENCE_ID } from '../contracts/search-attributes';
import { fingerprintsByProduct } from '../domain/line-totals';
import { escapeMarkdown } from '../domain/markdown';
import { isDeliveryPlan } from './activity-result-guards';
import { localOptions, planningOptions } from './policies';
import { instant } from './progress';
import { sendEvent } from './send-event';
import { validateDelivery } from './validate-input';

/**
 * Delivers what comes after a purchase has ended.
 *
 * @param input an event without keys; or a purchase, whose keys are delivered: what of them is planned in here, because
 *   the workflow id is what keeps any other delivery of this reference from running meanwhile.
 * @returns what the checkout has received. It fails with `NothingToDeliver`, with `InvalidDelivery` when it was started with
 *   what it can't deliver, and when an event was refused for good or tried for a day.
 */
export async function deliverWorkflow(input: DeliveryRequest | KeyDelivery): Promise<DeliveryReport> {
  validateDelivery(input);
  upsertSearchAttributes([{ key: REFERENCE_ID, value: input.referenceId }]);
  const { readSettings } = proxyLocalActivities<Activities>(localOptions);
  const { settings } = await readSettings.executeWithOptions({ summary: 'the settings' }, []);
  if (!('deliver' in input)) {
    showDelivery(input.referenceId, [input.type]);
    const events = [await sendEvent(settings, input)];
    upsertMemo({ events } satisfies DeliveryMemo);
    showReceived(input.referenceId, events);
    return { events };
  }
  const plan = await planDelivery(settings, input);
  showDelivery(
    input.referenceId,
    plan.requests.map(({ type }) => type),
  );
  const events = await sendAll(settings, plan.requests);
  showReceived(input.referenceId, events);
  const { ordered, orderId, order } = plan;
  upsertMemo({ events, ordered, orderId, fingerprints: handedOver(plan) } satisfies DeliveryMemo);
  return { events, order };
}

async function planDelivery(settings: PurchaseSettings, delivery: KeyDelivery): Promise<DeliveryPlan> {
  const { planDelivery: plan } = proxyActivities<Activities>(planningOptions(settings));
  const { firstExecutionRunId: firstRunId } = workflowInfo();
  const what = 'The order and what was sent of it before are read. **Next:** what is to be sent goes to the checkout.';
  setCurrentDetails(`**DELIVERING** what purchase ${escapeMarkdown(delivery.referenceId)} has since its end. ${what}`);
  const summary = delivery.deliver === 'all' ? 'what was sent, and what is new' : 'what is new';
  const planned = await plan.executeWithOptions({ summary }, [{ ...delivery, firstRunId }]);
  if (!isDeliveryPlan(planned)) {
    const why = 'the plan of the delivery was completed by an operator, without a plan';
    throw ApplicationFailure.nonRetryable(why, FAILURE.invalidDelivery);
  }
  return planned;
}

function showDelivery(referenceId: string, types: readonly string[]): void {
  const since = instant(Date.now());
  const next =
    'the receipt of the checkout. Tried for a day, with growing pauses; refused or not taken, this workflow fails.';
  const events = types.join(', ');
  setCurrentDetails(
    `**DELIVERING** since ${since}: ${events} of ${escapeMarkdown(referenceId)} to the checkout.\n\n**Next:** ${next}`,
  );
}

function showReceived(referenceId: string, events: readonly ReceivedEvent[]): void {
  const lines = events.map(({ type, id }) => `- ${type} (${escapeMarkdown(id)})`);
  setCurrentDetails(
    `**RECEIVED** by the checkout, of ${escapeMarkdown(referenceId)}:\n\n${lines.join('\n') || 'nothing'}`,
  );
}

/** All at once: an event that is refused, or tried for a day, keeps no other back. */
async function sendAll(settings: PurchaseSettings, requests: DeliveryRequest[]): Promise<ReceivedEvent[]> {
  const sent = await Promise.allSettled(requests.map((request) => sendEvent(settings, request)));
  return sent.map((one) => {
    if (one.status === 'rejected') throw one.reason;
    return one.value;
  });
}

/** What the checkout has of the purchase once everything of the plan was received. */
function handedOver({ requests, received }: DeliveryPlan): Record<string, string[]> {
  const before = Object.entries(received).map(([productId, fingerprints]) => ({ productId, fingerprints }));
  const now = requests.flatMap((request) => ('lines' in request ? request.lines : []));
  return fingerprintsByProduct([...before, ...now]);
}
