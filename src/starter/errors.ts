import { commandsFor, indented, searchCommand, statusCommand } from '../contracts/operator-commands';
import type { HoldNotice, PurchaseInput } from '../contracts/public-types';
import { describeItems } from '../domain/purchase-rules';

/** The starter was asked for something that can't be; the message says what was expected and what came. */
export class StarterError extends Error {
  constructor(
    message: string,
    readonly exitCode: 1 | 2 = 1,
  ) {
    super(message);
    this.name = new.target.name;
  }
}

/** The reference or the items can't be a purchase. Nothing was started. */
export class InvalidPurchaseError extends StarterError {
  constructor(readonly faults: readonly string[]) {
    super(`This can't be a purchase:\n${faults.map((fault) => `  ${fault}`).join('\n')}`, 2);
  }
}

/** The reference already belongs to a purchase of other items, or that may cost another sum. Nothing was started and nothing changed. */
export class PurchaseDiffersError extends StarterError {
  constructor(
    readonly referenceId: string,
    readonly known: Omit<PurchaseInput, 'referenceId'>,
    readonly asked: Omit<PurchaseInput, 'referenceId'>,
  ) {
    super(
      `Reference ${referenceId} already stands for another purchase.\n` +
        `  it bought:  ${describePurchase(known)}\n  you asked:  ${describePurchase(asked)}\n` +
        'Every sale needs a reference of its own; use a new one.',
    );
  }
}

/** No purchase of this reference is known to Temporal, or no longer. */
export class PurchaseNotFoundError extends StarterError {
  constructor(referenceId: string) {
    super(`There is no purchase ${referenceId} in this namespace (or its retention has passed).`);
  }
}

/** The purchase ended without a result: it was terminated, or it failed because it never was one. */
export class PurchaseFailedError extends StarterError {
  constructor(referenceId: string, how: string) {
    super(
      `Purchase ${referenceId} ${how}. It has no result. Whether the partner has an order for it, ` +
        `this shows: ${searchCommand(referenceId)}`,
    );
  }
}

/** Nothing waits for a decision, or not for this one. Nothing changed. */
export class DecisionRefusedError extends StarterError {
  constructor(
    referenceId: string,
    why: string,
    readonly hold?: HoldNotice,
  ) {
    const fitting = hold ? `\nThese fit:${indented(commandsFor(referenceId, hold.decisions))}` : '';
    super(`Nothing was decided on ${referenceId}: ${why}.${fitting}`);
  }
}

/** There is no event to deliver again, or it can't be. Nothing was sent. */
export class NothingToRedeliverError extends StarterError {}

/** A redelivery ended without a receipt: the checkout refused the event, or the order kept changing. */
export class RedeliveryFailedError extends StarterError {}

/** Whoever was to answer did not within the time. What was asked may still come true. */
export class NotAnsweredError extends StarterError {}

/** Asked to cancel what has ended. Nothing changed. */
export class NothingToCancelError extends StarterError {
  constructor(referenceId: string, how: string) {
    super(
      `Purchase ${referenceId} has ended ${how}, so there is nothing to cancel. What came of it: ${statusCommand(referenceId)}`,
    );
  }
}

function describePurchase({ items, maxDebit }: Omit<PurchaseInput, 'referenceId'>): string {
  return `${describeItems(items)}${(maxDebit ?? undefined) === undefined ? '' : `, for ${maxDebit} at the most`}`;
}
