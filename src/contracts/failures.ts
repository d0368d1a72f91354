import type { ApplicationFailure } from '@temporalio/common';

/** Every type of an `ApplicationFailure` of this project, as histories and the Temporal UI show it. Workflow code compares these, never classes. */
export const FAILURE = {
  /** The purchase that was started can't be one: bad reference, bad items, wrong workflow id. */
  invalidPurchase: 'InvalidPurchase',
  /** A `deliverWorkflow` was started with what it can't deliver, or an operator completed an activity of it with no result. */
  invalidDelivery: 'InvalidDelivery',
  /** The same of a `reconcileWorkflow`; also an input of the activity that an older workflow has made. */
  invalidReconciliation: 'InvalidReconciliation',
  /** A reconciliation was to look back further than the namespace remembers its purchases. */
  lookbackTooLong: 'LookbackTooLong',
  /** The order's status is still the known one. Benign: this is how waiting is shown. */
  orderUnchanged: 'OrderUnchanged',
  /** The partner could not be asked, or its answer could not be used. Tried again. */
  partnerUnavailable: 'PartnerUnavailable',
  /** The order is larger than PARTNER_MAX_BODY. Final: another try is an operator's decision. */
  orderTooLarge: 'OrderTooLarge',
  /** A local activity leaves its work to an ordinary one: after a reset, or with a slow checkout. Benign. */
  notLocally: 'NotLocally',
  /** No permit under PARTNER_MAX_RPS came in time. Benign: tried again when one may come. */
  rateLimited: 'RateLimited',
  /** The partner refuses us: a rotated key, a wrong prefix. An alarm, and tried again. */
  partnerAccess: 'PartnerAccess',
  /** There is nothing to send: the purchase is running, was given up, or the checkout has it all. */
  nothingToDeliver: 'NothingToDeliver',
  /** The checkout did not take the event. Tried again. */
  deliveryFailed: 'DeliveryFailed',
  /** The checkout answered 410: it does not want this event. */
  deliveryRefused: 'DeliveryRefused',
  /** The order changed again and again between its review and its delivery. */
  orderChanges: 'OrderChanges',
  /** An activity was started by a workflow that has no use for it, or by no workflow at all. */
  notItsWorkflow: 'NotItsWorkflow',
  /** A decision came for a hold that is not open, or does not fit it. */
  decisionRefused: 'DecisionRefused',
  /** An error that nobody expected: a bug. The message names its class and nothing else. Tried again. */
  unexpected: 'Unexpected',
} as const;

export type FailureType = (typeof FAILURE)[keyof typeof FAILURE];

/**
 * The pause in ms that a failed activity was asked for; 0 if none. It is the only detail of our failures, because the SDK leaves
 * `nextRetryDelay` out when it decodes a failure for workflow code.
 */
export function pauseOf({ details }: Pick<ApplicationFailure, 'details'>): number {
  const [pauseMs] = details ?? [];
  return typeof pauseMs === 'number' ? pauseMs : 0;
}
