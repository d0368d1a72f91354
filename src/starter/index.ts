/*
 * The library behind the commands: the part for checkouts, the reconciliation and its schedule.
 */
export * from './checkout';
export type { ReconcileInput, ReconciliationResult, ReportedFinding } from '../contracts/reconciliation';
export type { StatusQueryResult } from '../contracts/purchase';
export {
  createScheduleManager,
  type NightlySchedule,
  reconcileNow,
  ReconciliationError,
  ScheduleError,
  type ScheduleManager,
  type ScheduleSettings,
} from './reconciliation';
