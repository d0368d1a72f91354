import type { PurchaseItem } from '../domain/order';
import type { PurchaseState } from '../domain/purchase-state';
import type { HoldNotice, PurchaseResult, ReceivedEvent } from './purchase';

/**
 * The answer of the query `status`: where a purchase stands, as its workflow knows it, also after its end. Instants are ISO
 * 8601. The attempts of a pending activity are not known in there: `status` of the starter shows them.
 */
export interface StatusAnswer {
  referenceId: string;
  items: PurchaseItem[];
  maxDebit?: number;
  state: PurchaseState;
  /** Since when it is in this state. */
  since: string;
  orderId?: string;
  /** What is happening, or how it ended, in words. */
  explanation: string;
  /** What it waits for; absent once it has ended. */
  waitsFor?: { what: string; since: string };
  /** The hold that waits for a decision. */
  hold?: HoldNotice;
  /** What the last poll of the order showed that the workflow knows of. */
  lastPoll?: { status: string; at: string };
  /** Someone has asked to cancel it. */
  cancelRequested: boolean;
  /** What the checkout has received. */
  events: ReceivedEvent[];
  result?: PurchaseResult;
}
