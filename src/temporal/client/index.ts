export {
  connectClient,
  type ConnectRetry,
  connectWithRetry,
  StoppedError,
  TemporalUnreachableError,
} from './connection';
export { refusalOf, refusedError } from './connection-failure';
export { type BrakeStatus, readBrake, reportToBrake } from './brake';
export type { ReadExecution } from './executions';
export { GRPC_STATUS, grpcErrorOf, hasNoLists } from './grpc-error';
export type { UntracedDelivery } from './history';
export type { PausedPurchase } from './paused-purchases';
export { createPurchaseReader, type KeyEvent, type PurchaseReader, type PurchaseRun } from './purchase-reader';
export type { WaitingPurchase } from './waiting-purchases';
export { newestOrderId } from './newest-order';
export { epochMsOf } from './proto-timestamp';
export { rootCauseOf } from './root-cause';
export { keepWatching } from './keep-watching';
export { createLastReconciliationReader, type EndedReconciliation } from './last-reconciliation';
export { lookbackIssue } from './retention';
export { countLaterDeliveries, countPurchases, type RunningCount } from './running-purchases';
export { startEventDelivery, startKeyDelivery } from './start-delivery';
export { throughServerTimeouts } from './through-server-timeouts';
export { readTemporalTarget, TemporalConfigError, type TemporalTarget } from './target';
export { missingSearchAttributes, registerSearchAttributes, requireSearchAttributes } from './search-attributes';
export { withinMs } from './within-ms';
