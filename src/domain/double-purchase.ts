/*
 * The texts for a double purchase, which both the purchase itself and the reconciliation may report.
 */

export const DOUBLE_PURCHASE_ADVICE =
  'Ask the partner to cancel and refund the other orders. Do not sell their keys until it has replied.';

/** @param others the number of billable orders in addition to the one that is used */
export function explainDoublePurchase(others: number): string {
  return `The partner has ${others} more billable ${others === 1 ? 'order' : 'orders'} under this reference.`;
}
