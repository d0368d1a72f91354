/*
 * The whole package `durable-fulfilment-checkout`. It depends only on Temporal's client. It must not import the native
 * library, the partner's client or the configuration.
 */
export type * from '../contracts/public-types';
export { EVENT_SAMPLES } from '../contracts/event-samples';
export type { PurchaseItem } from '../domain/purchase-item';
export type { Decision, DecisionRefusal, HoldReason } from '../domain/holds';
export type { PurchaseOutcome, PurchaseState } from '../domain/purchase-state';
export type { CancelEffect, Cancellation } from './cancel';
export * from './errors';
export { isRetryable } from './is-retryable';
export type { ListedPurchase, ListFilter, PurchaseList } from './list';
export {
  type EventHeaders,
  InvalidEventError,
  type InvalidEventReason,
  parseEvent,
  type ClockOptions,
  signEvent,
  type UnsignedEvent,
} from './parse-event';
export { createStarter, type ResultOptions, type Starter, type StarterOptions } from './create-starter';
export type { PurchaseStart } from './start-purchase';
export type { Redelivery } from './redeliver';
export type { ResolveOptions, Resolution } from './resolve';
export type { DeliveryStatus, PendingActivity, PurchaseStatus } from './status';
export type { CurrentState, WorkflowStatus } from './current-state';
