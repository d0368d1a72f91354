import { commandsFor, indented, searchCommand, statusCommand } from '../contracts/operator-commands';
import type { HoldNotice, PurchaseInput } from '../contracts/public-types';
import { describeItems } from '../domain/purchase-rules';

/** A request that can't be carried out. The message says what was expected and what was given. */
export class StarterError extends Error {
  constructor(
    message: string,
    readonly exitCode: 1 | 2 = 1,
  ) {
    super(message);
    this.name = new.target.name;
  }
}

/** The reference or the items are not valid. Nothing was started. */
export class InvalidPurchaseError extends StarterError {
  constructor(readonly faults: readonly string[]) {
    super(`The purchase is not valid:\n${faults.map((fault) => `  ${fault}`).join('\n')}`, 2);
  }
}

/**
 * The reference already belongs to a purchase with other items or another `maxDebit`. Nothing was started or changed.
 */
export class PurchaseDiffersError extends StarterError {
  constructor(
    readonly referenceId: string,
    readonly known: Omit<PurchaseInput, 'referenceId'>,
    readonly asked: Omit<PurchaseInput, 'referenceId'>,
  ) {
    super(
      `Reference ${referenceId} already belongs to another purchase.\n` +
        `  it bought:     ${describePurchase(known)}\n  you asked for: ${describePurchase(asked)}\n` +
        'Every sale needs its own reference. Use a new one.',
    );
  }
}

/** Temporal knows no purchase with this reference, or no longer. */
export class PurchaseNotFoundError extends StarterError {
  constructor(referenceId: string) {
    super(`There is no purchase ${referenceId} in this namespace, or its retention has passed.`);
  }
}

/** The purchase ended without a result: it was terminated, or its input was invalid. */
export class PurchaseFailedError extends StarterError {
  constructor(referenceId: string, how: string) {
    super(
      `Purchase ${referenceId} ${how}. It has no result. ` +
        `To see whether the partner has an order for it: ${searchCommand(referenceId)}`,
    );
  }
}

/** The purchase waits for no decision, or for another one. Nothing changed. */
export class DecisionRefusedError extends StarterError {
  constructor(
    referenceId: string,
    why: string,
    readonly hold?: HoldNotice,
  ) {
    const fitting = hold ? `\nThese decisions fit:${indented(commandsFor(referenceId, hold.decisions))}` : '';
    super(`Nothing was decided for ${referenceId}: ${why}.${fitting}`);
  }
}

/** There is no event to deliver again. Nothing was sent. */
export class NothingToRedeliverError extends StarterError {}

/** A redelivery failed: the checkout refused the event, or the order kept changing. */
export class RedeliveryFailedError extends StarterError {}

/** No answer in time; the request may still take effect. */
export class NotAnsweredError extends StarterError {}

/** The purchase to cancel has already ended. Nothing changed. */
export class NothingToCancelError extends StarterError {
  constructor(referenceId: string, how: string) {
    super(
      `Purchase ${referenceId} has ended ${how}, so there is nothing to cancel. To see it: ${statusCommand(referenceId)}`,
    );
  }
}

function describePurchase({ items, maxDebit }: Omit<PurchaseInput, 'referenceId'>): string {
  return `${describeItems(items)}${(maxDebit ?? undefined) === undefined ? '' : `, for at most ${maxDebit}`}`;
}
