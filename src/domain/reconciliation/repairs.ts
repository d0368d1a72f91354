import type { FindingKind } from './finding-kinds';

/**
 * What a reconciliation may do about a finding by itself. None of these buys.
 *
 * - `deliver`: bring the checkout up to date with the keys that it does not have.
 * - `deliver-or-notify`: the same, and without such a key `notify`: the debit says that the rest was refunded, and the order may
 *   still hold another key.
 * - `notify-refund`: bring the checkout up to date with the refund of the order.
 * - `adopt`: send the decision to the held purchase that this order is its own.
 * - `notify`: notify the checkout that a person must act.
 */
export type Repair = 'deliver' | 'deliver-or-notify' | 'notify-refund' | 'adopt' | 'notify';

/** Whether a repair reads the purchase with its order, also in a dry run. */
export function readsSale({ repair }: { repair?: Repair }): boolean {
  return repair === 'deliver' || repair === 'deliver-or-notify' || repair === 'notify-refund';
}

/** What a purchase and its order are together. One cause gives one classification. */
export interface Classification {
  kind: FindingKind;
  /** Absent where only people can do something about it. */
  repair?: Repair;
  /** In place of the kind's own advice. */
  advice?: string;
}

const BOUGHT_AFTER_ALL =
  'The checkout was notified that nothing was bought. Ask the partner to cancel the order and to refund it.';
const ADOPT = 'Give the purchase its order with `resolve REFERENCE --order ORDER`.';

/** Keys are missing: an order that is still a part, or one without a new key when it was read. */
export const KEYS_MISSING = {
  kind: 'UNDELIVERED',
  advice: 'Keys are missing in the order: claim them from the partner, or their price where it was not refunded.',
} as const satisfies Classification;

/** Every classification that is repaired. All others are reported and left to people. */
export const REPAIRED = {
  late: { kind: 'LATE', repair: 'deliver' },
  lost: { kind: 'LOST', repair: 'deliver' },
  shortfall: { ...KEYS_MISSING, repair: 'deliver' },
  shortfallFilled: { kind: 'SHORTFALL_FILLED', repair: 'deliver' },
  heldWithoutOrder: { kind: 'LOST', repair: 'adopt', advice: ADOPT },
  heldWithoutEndedOrder: { kind: 'STATUS_MISMATCH', repair: 'adopt', advice: ADOPT },
  refundedAfterDelivery: { kind: 'REFUNDED_AFTER_DELIVERY', repair: 'notify-refund' },
  shortfallRefunded: { kind: 'SHORTFALL_REFUNDED', repair: 'notify-refund' },
  restRefunded: { kind: 'SHORTFALL_REFUNDED', repair: 'deliver-or-notify' },
  debitLowered: {
    kind: 'UNDELIVERED',
    repair: 'deliver-or-notify',
    advice:
      'Compare what the partner debits less by now with the price of the missing keys: claim what it did not refund, and refund the customer what was not handed over.',
  },
  refundedUndelivered: {
    kind: 'STATUS_MISMATCH',
    repair: 'notify-refund',
    advice:
      'Nothing was handed over and the order is refunded: refund the customer, or sell again under a new reference.',
  },
  failedUndelivered: {
    kind: 'STATUS_MISMATCH',
    repair: 'notify',
    advice: 'The order failed and costs nothing: refund the customer, or sell again under a new reference.',
  },
  boughtAfterAll: { kind: 'STATUS_MISMATCH', repair: 'notify', advice: BOUGHT_AFTER_ALL },
  completeAfterAll: { kind: 'UNDELIVERED', repair: 'notify', advice: BOUGHT_AFTER_ALL },
  keysGone: { kind: 'KEYS_GONE', repair: 'notify' },
  doublePurchase: { kind: 'DOUBLE_PURCHASE', repair: 'notify' },
} as const satisfies Record<string, Classification>;

/** In place of the advice of what was not handed over, where that is not known. */
export const MAY_BE_DELIVERED =
  'Keys may have reached the checkout without a receipt: look there before you refund the customer or sell again.';
