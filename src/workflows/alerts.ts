import { ActivityFailure, log, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../contracts/activities';
import type { EventDetails } from '../contracts/events';
import { isDelivered } from './activity-result-guards';
import { alertOptions } from './policies';
import type { PurchaseRecord } from './purchase-record';

/** Notifies the checkout of what a person must see but need not decide, at once. It is given up after a minute: no outcome waits for it. */
export function raiseAlert(purchase: PurchaseRecord, kind: string, details: EventDetails): void {
  purchase.alerts.push(sendAlert(purchase, kind, details));
}

async function sendAlert(purchase: PurchaseRecord, kind: string, details: EventDetails): Promise<void> {
  const { deliverNotice } = proxyActivities<Activities>(alertOptions(purchase.settings));
  const { referenceId } = purchase.input;
  const data = { referenceId, orderId: purchase.orderId, kind, details };
  const notice = { type: 'purchase.attention', subject: JSON.stringify([kind, details]), data } as const;
  try {
    const delivered = await deliverNotice.executeWithOptions({ summary: `purchase.attention: ${kind}` }, [notice]);
    if (isDelivered(delivered) && delivered.kind === 'RECEIVED') return purchase.noteReceived(delivered.event);
  } catch (failure) {
    if (!(failure instanceof ActivityFailure)) throw failure;
  }
  log.error('the checkout did not take an alert', { kind });
}
