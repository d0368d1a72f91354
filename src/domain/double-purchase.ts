/*
 * The texts of a double purchase. The purchase itself and the reconciliation both report one.
 */

export const DOUBLE_PURCHASE_ADVICE =
  'Ask the partner to cancel and refund the other orders. Do not sell their keys until it answers.';

/** @param others the number of billable orders in addition to the one that is used */
export function explainDoublePurchase(others: number): string {
  return `The partner has ${others} more billable ${others === 1 ? 'order' : 'orders'} under this reference.`;
}
