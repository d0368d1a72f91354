/**
 * Every type of an `ApplicationFailure` of this project. Workflow code compares these, never classes; whoever reads a
 * history or the Temporal UI sees them.
 */
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
  /** A local activity in a run that a reset has made: what it was to do is left to an ordinary one. Benign. */
  laterRun: 'LaterRun',
  /** No slot under PARTNER_MAX_RPS came in time. Benign: tried again when one may come. */
  rateLimited: 'RateLimited',
  /** The partner refuses us: a rotated key, a wrong prefix. An alarm, and tried again. */
  partnerAccess: 'PartnerAccess',
  /** There is nothing to send: the purchase is running, was given up, or sent no event that could be repeated. */
  nothingToDeliver: 'NothingToDeliver',
  /** A delivery of the same reference is on its way, and what it will send is not known yet. Tried again. */
  deliveryOnItsWay: 'DeliveryOnItsWay',
  /** The checkout did not take the event. Tried again. */
  deliveryFailed: 'DeliveryFailed',
  /** The checkout answered 410: it wants this event no more. */
  deliveryRefused: 'DeliveryRefused',
  /** The reading of the order history for waiting purchases was interrupted: its worker stops, or an error that nobody expected. Begun anew. */
  watchInterrupted: 'WatchInterrupted',
  /** A key that this event promises is no longer in the order. */
  keyGone: 'KeyGone',
  /** A decision came for a hold that is not open, or does not fit it. */
  decisionRefused: 'DecisionRefused',
  /** An error that nobody expected: a bug. The message names its class and nothing else. Tried again. */
  unexpected: 'Unexpected',
} as const;

export type FailureType = (typeof FAILURE)[keyof typeof FAILURE];
