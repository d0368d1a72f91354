/*
 * The library for a TypeScript checkout. It needs a Temporal client and nothing else. It loads neither the worker with its native
 * bridge, nor the clients of partner and checkout, nor the configuration.
 */
export type {
  DecisionChoice,
  HoldNotice,
  NextStep,
  PurchaseInput,
  PurchaseLine,
  PurchaseResult,
  StatusAnswer,
} from '../contracts/purchase';
export type { PurchaseItem } from '../domain/order';
export type { PurchaseOutcome, PurchaseState } from '../domain/purchase-state';
export type { ReconcileInput, ReconciliationResult, ReportedFinding } from '../contracts/reconciliation';
export type { AfterEnd } from './after-end';
export type { CancelEffect, Cancellation } from './cancel';
export * from './errors';
export type { ListedPurchase, ListFilter, PurchaseList } from './list';
export { createStarter, type StartedPurchase, type Starter, type StarterOptions } from './purchases';
export {
  createScheduleManager,
  type NightlySchedule,
  reconcileNow,
  ReconciliationError,
  ScheduleError,
  type ScheduleManager,
  type ScheduleSettings,
} from './reconciliation';
export type { Redelivery } from './redeliver';
export type { Resolution } from './resolve';
export type { DeliveryStatus, PendingWork, PurchaseStatus } from './status';
