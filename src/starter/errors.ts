import { commandsFor, indented, searchCommand } from '../contracts/operator-commands';
import type { Hold, PurchaseInput } from '../contracts/public-types';
import type { WorkflowStatus } from './current-state';
import type { DecisionRefusal } from '../domain/holds';
import { describeItems } from '../domain/purchase-rules';

/** The base class of this package's errors. Temporal's other errors are passed on unchanged. */
export class FulfilmentError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** An argument is invalid. Temporal was not contacted. */
export class InvalidArgumentError extends FulfilmentError {}

/** The purchase is invalid. Nothing was started. `issues` has one sentence for each problem. */
export class InvalidPurchaseError extends FulfilmentError {
  constructor(readonly issues: readonly string[]) {
    super(`The purchase is invalid:\n${issues.map((issue) => `  ${issue}`).join('\n')}`);
  }
}

/** The reference already has a purchase with different items or a different `maxDebit`. Nothing was changed. */
export class PurchaseDiffersError extends FulfilmentError {
  constructor(
    readonly referenceId: string,
    /** What was bought under the reference. */
    readonly existing: Omit<PurchaseInput, 'referenceId'>,
    /** What this call asked for. */
    readonly requested: Omit<PurchaseInput, 'referenceId'>,
  ) {
    super(
      `Reference ${referenceId} is already used by a different purchase.\n` +
        `  existing:  ${describePurchase(existing)}\n  requested: ${describePurchase(requested)}\n` +
        'The existing purchase keeps its items and its limit; nothing else was bought. Find out which sale used this ' +
        'reference. A different sale needs a new one.',
    );
  }
}

/** An invalid start may follow a valid one, if a client does not start with RejectDuplicate. */
const NEW_REFERENCE_UNLESS_STARTED_BEFORE =
  'Use a new reference, unless Temporal shows an earlier execution of this one, which may have bought the sale.';

/** What was started with this reference is not a valid purchase, so nothing can be bought under it. */
export class ReferenceUnusableError extends FulfilmentError {
  constructor(
    readonly referenceId: string,
    issues: readonly string[],
  ) {
    super(
      `Reference ${referenceId} can't be used: it was already started with invalid input (${issues.join('; ')}). ` +
        NEW_REFERENCE_UNLESS_STARTED_BEFORE,
    );
  }
}

/** No purchase with this reference exists in the namespace, or it was deleted after the retention period. */
export class PurchaseNotFoundError extends FulfilmentError {
  constructor(
    readonly referenceId: string,
    place: string,
  ) {
    super(
      `There is no purchase ${referenceId} in ${place}. ` +
        'It was never started there, or was deleted after the retention period.',
    );
  }
}

/** The purchase ended without a result, because it was terminated or its input was invalid. */
export class PurchaseEndedWithoutResultError extends FulfilmentError {
  constructor(
    readonly referenceId: string,
    readonly workflowStatus: WorkflowStatus,
    /** Temporal's own words. */
    readonly explanation?: string,
    /** The input was invalid, so this execution bought nothing. Otherwise it was stopped, and an order may exist. */
    readonly isInvalidInput = false,
  ) {
    super(
      `Purchase ${referenceId} ended as ${workflowStatus}${explanation ? ` (${explanation})` : ''} and has no result. ` +
        (isInvalidInput
          ? `Its input was invalid, so it bought nothing. ${NEW_REFERENCE_UNLESS_STARTED_BEFORE}`
          : `An operator can check whether the partner has an order for it: ${searchCommand(referenceId)}`),
    );
  }
}

/** The purchase did not end within `timeoutMs`. It continues; call `result` again to keep waiting. */
export class PurchaseNotEndedError extends FulfilmentError {
  constructor(readonly referenceId: string) {
    super(
      `Purchase ${referenceId} did not end in time. It continues: call result again to keep waiting. ` +
        'If its state is STARTED, no worker has picked it up.',
    );
  }
}

/** The purchase is not waiting for this decision. Nothing was changed. */
export class DecisionRefusedError extends FulfilmentError {
  constructor(
    readonly referenceId: string,
    /** Why, for programs. */
    readonly refusal: DecisionRefusal,
    /** The reason, as a sentence. */
    readonly explanation: string,
    /** The hold that is open now, if any. */
    readonly hold?: Hold,
  ) {
    const possible = hold
      ? `\nPossible decisions, as an operator's commands:${indented(commandsFor(referenceId, hold))}`
      : '';
    super(`The decision on ${referenceId} was refused: ${explanation}.${possible}`);
  }
}

/** The purchase has nothing to deliver again. Nothing was sent. */
export class NothingToRedeliverError extends FulfilmentError {
  constructor(
    readonly referenceId: string,
    message: string,
  ) {
    super(message);
  }
}

/** The redelivery failed. For example, the checkout rejected the event, or the order kept changing. */
export class RedeliveryFailedError extends FulfilmentError {
  constructor(
    readonly referenceId: string,
    message: string,
  ) {
    super(message);
  }
}

interface NoResponseOptions extends ErrorOptions {
  isSafeToRepeat?: boolean | undefined;
  referenceId?: string | undefined;
}

/** Temporal or a worker did not respond in time. The request may still take effect. */
export class NoResponseError extends FulfilmentError {
  /** Whether repeating the call is safe. False only for a `resolve` without `holdId`, which may resolve a later hold. */
  readonly isSafeToRepeat: boolean;
  /** The purchase that the call was about. */
  readonly referenceId: string | undefined;

  constructor(message: string, { isSafeToRepeat = true, referenceId, ...options }: NoResponseOptions = {}) {
    super(message, options);
    this.isSafeToRepeat = isSafeToRepeat;
    this.referenceId = referenceId;
  }
}

/** The purchase has already ended, so it can't be cancelled. Nothing was changed. */
export class NothingToCancelError extends FulfilmentError {
  constructor(
    readonly referenceId: string,
    how: string,
  ) {
    super(`Purchase ${referenceId} can't be cancelled, because it ended ${how}.`);
  }
}

function describePurchase({ items, maxDebit }: Omit<PurchaseInput, 'referenceId'>): string {
  return `${describeItems(items)}${(maxDebit ?? undefined) === undefined ? '' : `, for at most ${maxDebit}`}`;
}
