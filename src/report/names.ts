import type { FindingAmounts } from '../domain/reconciliation/finding';

/** What people read for each amount of a finding, in the page and in the spreadsheet. */
export const AMOUNT_NAMES: Record<keyof FindingAmounts, string> = {
  debited: 'debited',
  debitedNow: 'debited now',
  history: 'in the order history',
  surplus: 'for further orders',
};
