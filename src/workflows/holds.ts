import {
  ApplicationFailure,
  CancellationScope,
  condition,
  defineUpdate,
  log,
  proxyLocalActivities,
  setHandler,
  upsertMemo,
} from '@temporalio/workflow';
import type { Activities } from '../contracts/activities';
import { FAILURE } from '../contracts/failures';
import { RESOLVE_UPDATE } from '../contracts/names';
import type { Decision, DecisionKind, HoldNotice, HoldReason } from '../contracts/purchase';
import { isSafeOrderId } from '../domain/order';
import type { PurchaseRecord } from './purchase-record';
import { recorded } from './policies';
import { tell } from './notify-checkout';

const { currentRun } = proxyLocalActivities<Activities>(recorded);

/** A person's decision on a held purchase. The answer names the hold that was answered. */
export const resolveUpdate = defineUpdate<{ hold: string }, [Decision]>(RESOLVE_UPDATE);

const KINDS: readonly DecisionKind[] = ['order', 'replace', 'abandon', 'deliver', 'withhold'];

/** Which decisions fit which hold. Source: the failure model. */
const FITTING: Record<HoldReason, DecisionKind[]> = {
  PLACEMENT_UNKNOWN: ['order', 'replace', 'abandon'],
  OTHER_ITEMS: ['order', 'abandon', 'deliver'],
  ORDER_OF_ANOTHER_PURCHASE: ['order', 'abandon', 'deliver'],
  MORE_KEYS_THAN_ORDERED: ['deliver', 'withhold'],
  KEY_GONE: ['deliver', 'withhold'],
  DELIVERY_REFUSED: ['deliver', 'withhold'],
  DELIVERY_EXHAUSTED: ['deliver', 'withhold'],
};

/** What came of a hold: a decision with the run in which the hold was opened, or a cancel that was allowed to end it. */
export type HoldAnswer = { kind: DecisionKind; orderId?: string; runId: string } | { kind: 'cancelled' };

/**
 * Where decisions arrive. The validator checks only the shape, because a rejected update leaves no trace; the handler
 * decides, so that whoever comes second or answers an older hold is on record too.
 */
export class HoldDesk {
  private open: { notice: HoldNotice; decision?: Decision } | undefined;
  private count = 0;

  constructor() {
    setHandler(resolveUpdate, (decision) => this.receive(decision), { validator: refuseMalformedDecision });
  }

  /**
   * Opens a hold under an id that no other run or hold of this purchase has. The run is a recorded one: a reset
   * replays the decisions that were made for older holds, and they must find those and never a new one.
   */
  async begin(reason: HoldReason, explanation: string): Promise<{ notice: HoldNotice; runId: string }> {
    const { runId } = await currentRun();
    this.count += 1;
    const notice = { id: `${runId}:${this.count}`, reason, explanation, decisions: FITTING[reason] };
    this.open = { notice };
    upsertMemo({ hold: notice });
    return { notice, runId };
  }

  get decision(): Decision | undefined {
    return this.open?.decision;
  }

  end(): void {
    this.open = undefined;
    upsertMemo({ hold: null });
  }

  private receive(decision: Decision): { hold: string } {
    const refuse = (why: string) => ApplicationFailure.nonRetryable(why, FAILURE.decisionRefused);
    const { open } = this;
    if (!open) throw refuse(`nothing waits for a decision here (you answered ${decision.hold})`);
    if (open.notice.id !== decision.hold) {
      throw refuse(`the hold that waits is ${open.notice.id}, you answered ${decision.hold}: look again, then decide`);
    }
    if (open.decision) throw refuse(`this hold was already answered: ${open.decision.decision}`);
    if (!open.notice.decisions.includes(decision.decision)) {
      throw refuse(`${decision.decision} does not fit ${open.notice.reason}: ${open.notice.decisions.join(', ')} do`);
    }
    open.decision = decision;
    return { hold: decision.hold };
  }
}

/**
 * Holds the purchase for a person: shown as `HELD`, told to the checkout, and left only by a decision that fits.
 *
 * @param endOnCancel whether a cancel may end it, because surely nothing was bought.
 */
export async function hold(
  purchase: PurchaseRecord,
  reason: HoldReason,
  explanation: string,
  endOnCancel = false,
): Promise<HoldAnswer> {
  const desk = purchase.holds;
  const { notice, runId } = await desk.begin(reason, explanation);
  log.warn('purchase held for a person', { reason, hold: notice.id });
  purchase.enter('HELD', `${explanation}. Decide with: ${notice.decisions.map((kind) => `--${kind}`).join(', ')}`);

  const telling = new CancellationScope();
  void telling.run(() => tellHeld(purchase, notice)).catch(() => undefined);
  await condition(() => desk.decision !== undefined || (endOnCancel && purchase.cancelRequested));
  telling.cancel();

  const { decision } = desk;
  desk.end();
  if (!decision) return { kind: 'cancelled' };
  log.info('decision taken', { decision: decision.decision, hold: decision.hold });
  const orderId = decision.decision === 'order' ? decision.orderId : undefined;
  return { kind: decision.decision, orderId, runId };
}

async function tellHeld(purchase: PurchaseRecord, notice: HoldNotice): Promise<void> {
  await tell(purchase, {
    type: 'purchase.held',
    at: new Date().toISOString(),
    referenceId: purchase.input.referenceId,
    orderId: purchase.orderId,
    hold: notice.reason,
    decisions: notice.decisions,
    reason: notice.explanation,
    deduplicationKey: notice.id,
  });
}

function refuseMalformedDecision(decision: Decision): void {
  const given: { hold?: unknown; decision?: unknown; orderId?: unknown } | null =
    typeof decision === 'object' ? decision : null;
  if (typeof given?.hold !== 'string' || !KINDS.some((kind) => kind === given.decision)) {
    throw new Error(`expected {hold, decision: ${KINDS.join(' | ')}, orderId?}`);
  }
  const needsOrder = given.decision === 'order';
  if (needsOrder && (typeof given.orderId !== 'string' || !isSafeOrderId(given.orderId))) {
    throw new Error('expected orderId, the id of an order at the partner, with the decision order');
  }
}
