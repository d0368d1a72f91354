import type { ApplicationFailure } from '@temporalio/common';

/** The types of our `ApplicationFailure`s, as histories and the Temporal UI show them. Workflow code compares them. */
export const FAILURE = {
  /** Invalid input of a purchase: a bad reference, bad items or a wrong workflow id. */
  invalidPurchase: 'InvalidPurchase',
  /** Invalid input of `deliverWorkflow`, or an operator completed its activity without a valid result. */
  invalidDelivery: 'InvalidDelivery',
  /** The same for `reconcileWorkflow`. Also an activity input from a workflow of another version. */
  invalidReconciliation: 'InvalidReconciliation',
  /** The lookback of a reconciliation is longer than the namespace's retention minus a day. */
  lookbackTooLong: 'LookbackTooLong',
  /** The order is still open. Benign: a purchase waits by retrying this failure. */
  orderStillOpen: 'OrderStillOpen',
  /** The partner could not be reached, or its response was unusable. Usually retried. */
  partnerUnavailable: 'PartnerUnavailable',
  /** The order is larger than PARTNER_MAX_BODY. Not retried: an operator decides. */
  orderTooLarge: 'OrderTooLarge',
  /** A local activity hands over to an ordinary one: after a reset or a freeze, or if the checkout is slow. Benign. */
  notLocally: 'NotLocally',
  /** Temporal no longer counts the attempt, or did not respond, so nothing was sent. Benign, and retried. */
  attemptEnded: 'AttemptEnded',
  /** No permit under PARTNER_MAX_RPS was free in time. Benign, and retried when a permit is likely. */
  rateLimited: 'RateLimited',
  /** The partner denied access: a rotated API key or a wrong prefix. Logged as an error and retried. */
  partnerAccess: 'PartnerAccess',
  /** Nothing to send: the purchase is running or was abandoned, or the checkout has everything. */
  nothingToDeliver: 'NothingToDeliver',
  /** The worker lacks the secret that made the ids of the keys. Retried. */
  secretMissing: 'SecretMissing',
  /** The checkout did not accept the event. Retried. */
  deliveryFailed: 'DeliveryFailed',
  /** The checkout returned 410: it rejects this event permanently. */
  deliveryRefused: 'DeliveryRefused',
  /** The order kept changing between its review and its delivery. */
  orderChanges: 'OrderChanges',
  /** An activity was started by a workflow that may not use it, or by a client directly. */
  wrongWorkflow: 'WrongWorkflow',
  /** The decision is for a hold that is not open, or the hold does not allow it. */
  decisionRefused: 'DecisionRefused',
  /** An unexpected error, which means a bug. The message contains only its class name. Retried. */
  unexpected: 'Unexpected',
} as const;

export type FailureType = (typeof FAILURE)[keyof typeof FAILURE];

/**
 * The retry delay that a failure asks for, in ms; 0 if none. Our failures carry it as a detail, because the SDK drops
 * `nextRetryDelay` when it decodes a failure for workflow code.
 */
export function retryDelayOf({ details }: Pick<ApplicationFailure, 'details'>): number {
  const [delayMs] = details ?? [];
  return typeof delayMs === 'number' ? delayMs : 0;
}
