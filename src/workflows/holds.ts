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
import type { ResolveUpdateInput, HoldDecision, Hold } from '../contracts/purchase';
import type { Accepted } from '../domain/review-order';
import { type DecisionRefusal, DECISIONS, POSSIBLE_DECISIONS, type HoldReason } from '../domain/holds';
import { summaryOf, toSingleLine } from '../domain/text-format';
import { isSafeOrderId } from '../domain/order';
import { notifyHeld } from './deliver-events';
import { isOrderCheck } from './guards';
import { orderCheckOptions } from './policies';
import { currentRunId, metrics, type PurchaseRecord } from './purchase-record';

const RUN_ID_DIGITS = 12;
/** Characters. */
const MAX_EXPLANATION_LENGTH = 1_000;

/** An operator's decision on a held purchase. Returns the id of the hold that it decided. */
export const resolveUpdate = defineUpdate<{ holdId: string }, [ResolveUpdateInput]>(RESOLVE_UPDATE);

/** Why a purchase is held, as shown in the memo, the `purchase.held` event and the UI. */
export interface HoldCause {
  reason: HoldReason;
  explanation: string;
  /** What the operator accepts with the decision `deliver`. */
  accepts?: Accepted;
}

/** The decision that ended a hold, and the run that opened the hold. */
export type HoldResolution = HoldDecision & { runId: string };

interface OpenHold {
  hold: Hold;
  decision?: ResolveUpdateInput;
}

/**
 * The holds of a purchase, one at a time. The update validator checks only the shape, because a rejected update leaves
 * no trace in the history. The handler refuses decisions that the hold does not allow, so that the history records
 * them.
 */
export class Holds {
  private current: OpenHold | undefined;
  private count = 0;
  /** The order that is being checked before the decision that names it is accepted. */
  private orderBeingChecked: string | undefined;

  constructor(private readonly purchase: PurchaseRecord) {}

  /**
   * Holds the purchase until an operator decides. The state is `HELD` and the checkout is notified.
   * @param knownRunId the run for which the hold was prepared; the current one unless given
   */
  async hold(cause: HoldCause, knownRunId?: string): Promise<HoldResolution> {
    const { purchase } = this;
    const runId = knownRunId ?? (await currentRunId());
    const open = this.open(cause, runId);
    const { hold } = open;
    metrics.count('fulfilment_holds', { reason: hold.reason });
    log.warn('purchase held for an operator', { reason: hold.reason, holdId: hold.id });
    purchase.show('HELD', hold.explanation, `a decision: ${hold.decisions.join(', ')}`);

    const notification = new CancellationScope();
    void notification.run(() => notifyHeld(purchase, hold)).catch(() => undefined);
    await condition(() => open.decision !== undefined);
    notification.cancel();

    const decision = open.decision as ResolveUpdateInput; // set, because the condition was true
    if (decision.decision === 'deliver' && cause.accepts) purchase.noteAccepted(cause.accepts);
    this.current = undefined;
    purchase.setHold(undefined);
    purchase.showStep(`decision received: ${decision.decision}`, 'the decision takes effect');
    log.info('decision accepted', { decision: decision.decision, holdId: decision.holdId });
    return { ...decision, runId };
  }

  /**
   * Opens a hold with an id that is unique across runs, because a reset replays decisions on older holds, which must
   * never decide a new one. The end of the recorded run id is random, and short enough for commands.
   */
  private open({ reason, explanation }: HoldCause, runId: string): OpenHold {
    this.count += 1;
    const hold: Hold = {
      id: `${runId.slice(-RUN_ID_DIGITS)}:${this.count}`,
      reason,
      // An operator can end an activity with a text of any length.
      explanation: toSingleLine(explanation, MAX_EXPLANATION_LENGTH),
      decisions: [...POSSIBLE_DECISIONS[reason]],
      since: new Date().toISOString(),
    };
    this.current = { hold };
    this.purchase.setHold(hold);
    return this.current;
  }

  /**
   * Handles the update `resolve`. A named order is checked first. During the check, another decision may arrive or the
   * hold may end, so the hold is checked again afterwards.
   *
   * @throws ApplicationFailure `DecisionRefused` if the decision is not possible or comes too late.
   */
  async resolve(decision: ResolveUpdateInput): Promise<{ holdId: string }> {
    const open = this.requireOpenHold(decision);
    if (decision.decision === 'order') {
      await this.checkNamedOrder(decision.orderId);
      this.requireOpenHold(decision);
    }
    open.decision = decision;
    return { holdId: decision.holdId };
  }

  /**
   * @returns the open hold, if it allows the decision.
   * @throws ApplicationFailure `DecisionRefused`
   */
  private requireOpenHold(decision: ResolveUpdateInput): OpenHold {
    const open = this.current;
    if (!open) throw decisionRefused('NOT_HELD', `no hold is waiting for a decision (yours is for ${decision.holdId})`);
    if (open.hold.id !== decision.holdId) {
      throw decisionRefused(
        'OTHER_HOLD',
        `the open hold is ${open.hold.id}, but your decision is for ${decision.holdId}: check the status again, then decide`,
      );
    }
    if (open.decision)
      throw decisionRefused('ALREADY_DECIDED', `this hold already has a decision: ${open.decision.decision}`);
    if (!open.hold.decisions.includes(decision.decision)) {
      throw decisionRefused(
        'NOT_POSSIBLE',
        `${decision.decision} is not possible for ${open.hold.reason}. Choose one of ${open.hold.decisions.join(', ')}`,
      );
    }
    return open;
  }

  /**
   * One check at a time.
   * @throws ApplicationFailure `DecisionRefused` if the order can't belong to this purchase
   */
  private async checkNamedOrder(orderId: string): Promise<void> {
    if (this.orderBeingChecked !== undefined)
      throw decisionRefused('ORDER_UNUSABLE', `order ${this.orderBeingChecked} is already being checked: try again`);
    this.orderBeingChecked = orderId;
    try {
      const check = await checkOrder(this.purchase, orderId);
      if (!check.usable) throw decisionRefused('ORDER_UNUSABLE', check.reason);
    } finally {
      this.orderBeingChecked = undefined;
    }
  }
}

/** A cancel request does not end the check, because only the hold decides what a cancel request does. */
async function checkOrder({ input, settings }: PurchaseRecord, orderId: string): Promise<OrderCheck> {
  const { checkOrder: read } = proxyActivities<Activities>(orderCheckOptions(settings));
  const request = { orderId, referenceId: input.referenceId };
  const checking = CancellationScope.nonCancellable(() =>
    read.executeWithOptions({ summary: summaryOf(`does this order belong to the purchase? ${orderId}`) }, [request]),
  );
  const check: unknown = await checking.catch((failure: unknown) => checkFailed(orderId, failure));
  return isOrderCheck(check) ? check : checkFailed(orderId);
}

function checkFailed(orderId: string, failure?: unknown): OrderCheck {
  const cause = failure instanceof ActivityFailure ? failure.cause : undefined;
  const reason = cause instanceof ApplicationFailure ? ` (${cause.message})` : '';
  return { usable: false, reason: `order ${orderId} could not be checked${reason}: try again` };
}

function decisionRefused(refusal: DecisionRefusal, reason: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(reason, FAILURE.decisionRefused, refusal);
}

/**
 * Characters: ten times what a valid decision needs. An accepted update is stored in the history and quoted in
 * responses.
 */
const MAX_DECISION_LENGTH = 3_000;

/**
 * Validates shape and size of the argument of `resolve`.
 * @throws Error, which rejects the update without a trace
 */
export function validateDecision(decision: ResolveUpdateInput, ...others: unknown[]): void {
  if (JSON.stringify([decision, others]).length > MAX_DECISION_LENGTH) {
    throw new Error(`expected at most ${MAX_DECISION_LENGTH} characters`);
  }
  const given: { [Name in keyof ResolveUpdateInput | 'orderId']?: unknown } = Object(decision);
  if (typeof given.holdId !== 'string' || !DECISIONS.some((known) => known === given.decision)) {
    throw new Error(`expected {holdId, decision: ${DECISIONS.join(' | ')}, orderId?}`);
  }
  if (given.decision === 'order' && (typeof given.orderId !== 'string' || !isSafeOrderId(given.orderId))) {
    throw new Error('the decision "order" needs orderId, the id of an order at the partner');
  }
}
