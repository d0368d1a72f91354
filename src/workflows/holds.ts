import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  condition,
  defineUpdate,
  log,
  proxyActivities,
} from '@temporalio/workflow';
import type { Activities, OrderCheck } from '../contracts/activities';
import { FAILURE } from '../contracts/failures';
import { RESOLVE_UPDATE } from '../contracts/names';
import type { Decision, DecisionChoice, HoldNotice } from '../contracts/purchase';
import type { Accepted } from '../domain/review-order';
import { DECISION_KINDS, FITTING_DECISIONS, type HoldReason } from '../domain/holds';
import { summaryOf } from '../domain/texts';
import { isSafeOrderId } from '../domain/order';
import { notifyHeld } from './deliver-events';
import { isOrderCheck } from './guards';
import { orderCheckOptions } from './policies';
import { currentRunId, metrics, type PurchaseRecord } from './purchase-record';

/** An operator's decision on a held purchase. The answer names the hold that was answered. */
export const resolveUpdate = defineUpdate<{ hold: string }, [Decision]>(RESOLVE_UPDATE);

/** Why a purchase is held, for the memo, the checkout and people. */
export interface HoldCause {
  reason: HoldReason;
  explanation: string;
  /** What an operator accepts who lets the order be delivered all the same. */
  accepts?: Accepted;
}

/** What ended a hold: a decision with the run in which the hold was opened, or a cancel request that was allowed to. */
export type HoldResolution = (DecisionChoice & { runId: string }) | { decision: 'cancelled' };

interface OpenHold {
  notice: HoldNotice;
  decision?: Decision;
}

/**
 * The holds of a purchase, one at a time, and where decisions arrive. The validator checks only the shape, because a rejected update
 * leaves no trace. `resolve` decides, so a decision that is late, too early, or about an older hold is on record, too.
 */
export class Holds {
  private current: OpenHold | undefined;
  private count = 0;
  /** The order that is being read before the decision that names it is taken. */
  private reading: string | undefined;

  constructor(private readonly purchase: PurchaseRecord) {}

  /**
   * Holds the purchase for an operator: shown as `HELD`, the checkout notified, and left only by a decision that fits.
   *
   * @param endOnCancel whether a cancel request may end it, because surely nothing was bought.
   */
  async hold(cause: HoldCause, endOnCancel = false): Promise<HoldResolution> {
    const { purchase } = this;
    const runId = await currentRunId();
    const open = this.open(cause, runId, endOnCancel);
    const { notice } = open;
    metrics.count('fulfilment_holds', { reason: notice.reason });
    log.warn('purchase held for an operator', { reason: notice.reason, hold: notice.id });
    purchase.show('HELD', notice.explanation, `a decision: ${notice.decisions.join(', ')}`);

    const notification = new CancellationScope();
    void notification.run(() => notifyHeld(purchase, notice)).catch(() => undefined);
    await condition(() => open.decision !== undefined || (endOnCancel && purchase.cancelRequested));
    notification.cancel();

    const { decision } = open;
    if (decision?.decision === 'deliver' && cause.accepts) purchase.noteAccepted(cause.accepts);
    this.current = undefined;
    purchase.noteHold(undefined);
    if (!decision) {
      purchase.showStep(
        'somebody has cancelled it',
        'one more search of the order history, that no order has come since',
      );
      return { decision: 'cancelled' };
    }
    purchase.showStep(`somebody has decided: ${decision.decision}`, 'what comes of the decision');
    log.info('decision taken', { decision: decision.decision, hold: decision.hold });
    return { ...decision, runId };
  }

  /**
   * Opens a hold under an id that no other run or hold of this purchase has. The run is a recorded one: a reset
   * replays the decisions that were made for older holds, and they must find those and never a new one.
   */
  private open({ reason, explanation }: HoldCause, runId: string, endOnCancel: boolean): OpenHold {
    this.count += 1;
    const notice: HoldNotice = {
      id: `${runId}:${this.count}`,
      reason,
      explanation,
      decisions: [...FITTING_DECISIONS[reason]],
      since: new Date().toISOString(),
      endsOnCancel: endOnCancel || undefined,
    };
    this.current = { notice };
    this.purchase.noteHold(notice);
    return this.current;
  }

  /**
   * Handles the update `resolve`. An order that is named is read first, and while it is, another decision may be faster, or
   * the hold may end: whether the decision is still wanted is asked again then.
   *
   * @throws ApplicationFailure `DecisionRefused` for a decision that comes to nothing.
   */
  async resolve(decision: Decision): Promise<{ hold: string }> {
    const open = this.answerable(decision);
    if (decision.decision === 'order') {
      await this.readFirst(decision.orderId);
      this.answerable(decision);
    }
    open.decision = decision;
    return { hold: decision.hold };
  }

  /** @returns the hold that a decision answers. @throws ApplicationFailure `DecisionRefused` */
  private answerable(decision: Decision): OpenHold {
    const open = this.current;
    if (!open) throw refuse(`nothing waits for a decision here (you answered ${decision.hold})`);
    if (open.notice.id !== decision.hold) {
      throw refuse(
        `the hold that waits is ${open.notice.id}, you answered ${decision.hold}: read its status again, then decide`,
      );
    }
    if (open.decision) throw refuse(`this hold was already answered: ${open.decision.decision}`);
    if (!open.notice.decisions.includes(decision.decision)) {
      throw refuse(`${decision.decision} does not fit ${open.notice.reason}: ${open.notice.decisions.join(', ')} do`);
    }
    return open;
  }

  /** One read at a time. @throws ApplicationFailure `DecisionRefused` unless the order may be that of this purchase */
  private async readFirst(orderId: string): Promise<void> {
    if (this.reading !== undefined) throw refuse(`order ${this.reading} is being read for it just now: try again`);
    this.reading = orderId;
    try {
      const check = await checkOrder(this.purchase, orderId);
      if (!check.usable) throw refuse(check.why);
    } finally {
      this.reading = undefined;
    }
  }
}

/** Not cancelled with the purchase: a cancel request takes effect where the hold says so. */
async function checkOrder({ input, settings }: PurchaseRecord, orderId: string): Promise<OrderCheck> {
  const { checkOrder: read } = proxyActivities<Activities>(orderCheckOptions(settings));
  const request = { orderId, referenceId: input.referenceId };
  const checking = CancellationScope.nonCancellable(() =>
    read.executeWithOptions({ summary: summaryOf(`is this the order of the purchase? ${orderId}`) }, [request]),
  );
  const check: unknown = await checking.catch((failure: unknown) => unchecked(orderId, failure));
  return isOrderCheck(check) ? check : unchecked(orderId);
}

function unchecked(orderId: string, failure?: unknown): OrderCheck {
  const cause = failure instanceof ActivityFailure ? failure.cause : undefined;
  const why = cause instanceof ApplicationFailure ? ` (${cause.message})` : '';
  return { usable: false, why: `order ${orderId} could not be checked${why}: try again` };
}

function refuse(why: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(why, FAILURE.decisionRefused);
}

/** Ten times the longest hold and order id. What is taken is on record, and quoted in answers. */
const LONGEST_DECISION = 3_000;

/** Validates shape and size of the argument of `resolve`. @throws Error that rejects the update without a record. */
export function validateDecision(decision: Decision, ...others: unknown[]): void {
  if (JSON.stringify([decision, others]).length > LONGEST_DECISION) {
    throw new Error(`expected at most ${LONGEST_DECISION} characters`);
  }
  const given: { [Name in keyof Decision | 'orderId']?: unknown } = Object(decision);
  if (typeof given.hold !== 'string' || !DECISION_KINDS.some((known) => known === given.decision)) {
    throw new Error(`expected {hold, decision: ${DECISION_KINDS.join(' | ')}, orderId?}`);
  }
  if (given.decision === 'order' && (typeof given.orderId !== 'string' || !isSafeOrderId(given.orderId))) {
    throw new Error('expected orderId, the id of an order at the partner, with the decision order');
  }
}
