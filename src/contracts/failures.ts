import type { ApplicationFailure } from '@temporalio/common';

/** The types of our `ApplicationFailure`s, in histories and the Temporal UI. Workflow code compares these types. */
export const FAILURE = {
  /** Invalid input of a purchase: bad reference, bad items or wrong workflow id. */
  invalidPurchase: 'InvalidPurchase',
  /** Invalid input of `deliverWorkflow`, or an operator completed its activity without a valid result. */
  invalidDelivery: 'InvalidDelivery',
  /** The same for `reconcileWorkflow`; also an activity input from a workflow of another version. */
  invalidReconciliation: 'InvalidReconciliation',
  /** The lookback of a reconciliation exceeds the namespace's retention less a day. */
  lookbackTooLong: 'LookbackTooLong',
  /** The order is still open. Benign: the retry of this failure is how a purchase waits. */
  orderUnchanged: 'OrderUnchanged',
  /** The partner could not be reached, or its answer could not be used. Usually retried. */
  partnerUnavailable: 'PartnerUnavailable',
  /** The order is larger than PARTNER_MAX_BODY. Not retried: an operator decides. */
  orderTooLarge: 'OrderTooLarge',
  /** A local activity hands over to an ordinary one, after a reset or with a slow checkout. Benign. */
  notLocally: 'NotLocally',
  /** No permit under PARTNER_MAX_RPS in time. Benign, and retried when a permit is likely. */
  rateLimited: 'RateLimited',
  /** The partner refused access: a rotated key, a wrong prefix. Logged as an error and retried. */
  partnerAccess: 'PartnerAccess',
  /** Nothing to send: the purchase is running, was abandoned, or the checkout has everything. */
  nothingToDeliver: 'NothingToDeliver',
  /** The checkout did not accept the event. Retried. */
  deliveryFailed: 'DeliveryFailed',
  /** The checkout answered 410: it refuses this event permanently. */
  deliveryRefused: 'DeliveryRefused',
  /** The order kept changing between its review and its delivery. */
  orderChanges: 'OrderChanges',
  /** An activity was started by a workflow that may not use it, or by a client without a workflow. */
  notItsWorkflow: 'WrongWorkflow',
  /** A decision for a hold that is not open, or one that is not possible for it. */
  decisionRefused: 'DecisionRefused',
  /** An unexpected error, so a bug. The message contains only its class name. Retried. */
  unexpected: 'Unexpected',
} as const;

export type FailureType = (typeof FAILURE)[keyof typeof FAILURE];

/**
 * The pause that a failure asks for, in ms; 0 if none. Our failures carry it as a detail, because the SDK drops
 * `nextRetryDelay` when it decodes a failure for workflow code.
 */
export function pauseOf({ details }: Pick<ApplicationFailure, 'details'>): number {
  const [pauseMs] = details ?? [];
  return typeof pauseMs === 'number' ? pauseMs : 0;
}
