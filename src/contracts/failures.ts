/**
 * The types of the `ApplicationFailure`s that cross the border between activities and workflows. Workflow code compares
 * these, never classes.
 */
export const FAILURE = {
  /** The purchase that was started can't be one: bad reference, bad items, wrong workflow id. */
  invalidPurchase: 'InvalidPurchase',
  /** The order's status is still the known one. Benign: it is how waiting looks. */
  orderUnchanged: 'OrderUnchanged',
  /** The partner could not be asked, or its answer could not be used. Tried again. */
  partnerUnavailable: 'PartnerUnavailable',
  /** The partner refuses us: a rotated key, a wrong prefix. An alarm, and tried again. */
  partnerAccess: 'PartnerAccess',
  /** The checkout did not take the event. Tried again. */
  deliveryFailed: 'DeliveryFailed',
  /** The checkout answered 410: it wants this event no more. */
  deliveryRefused: 'DeliveryRefused',
  /** A key that this event promises is no longer in the order. */
  keyGone: 'KeyGone',
  /** A decision came for a hold that is not open, or does not fit it. */
  decisionRefused: 'DecisionRefused',
} as const;
