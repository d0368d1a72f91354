import { setTimeout as sleep } from 'node:timers/promises';
import type { CheckoutEvent } from '../../contracts/events';
import { isDeliveryError } from '../../delivery';
import type { ActivityDependencies } from '../dependencies';
import { postEvent } from '../deliver';

/** Each notice is tried so often; the next night repeats it. */
const TRIES = 3;
const FIRST_PAUSE_MS = 1_000;
/** More in one night are in the report only: a checkout that is away must not keep a reconciliation for hours. */
const MOST_NOTICES = 500;

/** The most order ids of one finding in a result or an event. The report names them all. */
export const MOST_ORDER_IDS = 20;

/** What notices are posted with. */
export interface NoticeContext extends Pick<ActivityDependencies, 'delivery' | 'metrics' | 'now'> {
  signal: AbortSignal;
  /** How many were posted, or tried. */
  notices: { count: number };
}

/** Posts a notice of a reconciliation. The same subject has the same id. @returns why the checkout does not have it, if so */
export async function postNotice(
  context: NoticeContext,
  type: 'purchase.attention' | 'reconciliation.completed',
  subject: string,
  data: CheckoutEvent['data'],
): Promise<string | undefined> {
  context.notices.count += 1;
  if (context.notices.count > MOST_NOTICES) return `more than ${MOST_NOTICES} notices in one reconciliation`;
  const { referenceId, orderId } = data;
  for (let attempt = 1; ; attempt++) {
    context.signal.throwIfAborted();
    try {
      const delivered = await postEvent(context, { type, referenceId, orderId, subject }, data);
      return delivered.kind === 'REFUSED' ? 'it refused the event for good (410)' : undefined;
    } catch (error) {
      if (!isDeliveryError(error)) throw error;
      if (attempt >= TRIES) return error.message;
      await sleep(FIRST_PAUSE_MS * 2 ** (attempt - 1), undefined, { signal: context.signal });
    }
  }
}
