import { log, proxyActivities, sleep, workflowInfo } from '@temporalio/workflow';
import type { Activities, PolledOrder } from '../contracts/activities';
import { endsPolling } from '../domain/order';
import { isViewOf } from './activity-result-guards';
import { lookingOnce, watching } from './policies';
import type { PurchaseRecord } from './purchase-record';

/** What an order is thought to be before the first look: just placed. */
export const JUST_PLACED = 'PENDING';
/** No status at all: the first look returns, whatever it sees. */
export const NEVER_SEEN = '';

/** The last thing seen of an order. `order` is undefined if the partner could not be asked at all. */
export interface Sighting {
  order: PolledOrder | undefined;
}

/**
 * Waits until the order has ended or the deadline has passed, and looks once more then.
 *
 * The pause between looks is not a timer: it is the retry policy of `awaitOrderChange`, see `watching` in policies.ts.
 * Whatever ends that activity early (a person, a poisoned answer) only makes it start again; at the deadline its failure
 * has several shapes, and all of them mean: look once more.
 */
export async function watchOrder(purchase: PurchaseRecord, orderId: string, known: string): Promise<Sighting> {
  const { settings, input } = purchase;
  const deadline = Date.now() + settings.deadlineMs;
  let status = known;
  let firstDelayMs = settings.firstPollMs;

  while (Date.now() < deadline) {
    const { awaitOrderChange } = proxyActivities<Activities>(watching(settings, deadline - Date.now()));
    const summary = `${orderId}: looking until it is no longer ${status || 'unseen'}`;
    const look = {
      orderId,
      referenceId: input.referenceId,
      known: status,
      firstDelayMs,
      intervalMs: settings.pollIntervalMs,
      firstRunId: workflowInfo().firstExecutionRunId,
    };
    const seen = await awaitOrderChange.executeWithOptions({ summary }, [look]).catch(() => undefined);

    if (isViewOf(orderId, seen)) {
      if (endsPolling(seen.status)) return { order: seen };
      if (isStepBack(status, seen.status)) log.warn('the order went back', { orderId, from: status, to: seen.status });
      status = seen.status;
      purchase.enter(status, `order ${orderId} at the partner`);
    } else if (deadline - Date.now() <= settings.pollIntervalMs) {
      break;
    }
    firstDelayMs = settings.pollIntervalMs;
  }
  const left = deadline - Date.now();
  if (left > 0) await sleep(left);
  return lookOnce(purchase, orderId);
}

/** One short look, for the deadline and for people's decisions. */
export async function lookOnce(purchase: PurchaseRecord, orderId: string): Promise<Sighting> {
  const { getOrder } = proxyActivities<Activities>(lookingOnce(purchase.settings));
  const summary = `${orderId}: one look`;
  const { firstExecutionRunId: firstRunId } = workflowInfo();
  const look = { orderId, referenceId: purchase.input.referenceId, firstRunId };
  const seen = await getOrder.executeWithOptions({ summary }, [look]).catch(() => undefined);
  return { order: isViewOf(orderId, seen) ? seen : undefined };
}

function isStepBack(from: string, to: string): boolean {
  return from === 'PROCESSING' && to === 'PENDING';
}
