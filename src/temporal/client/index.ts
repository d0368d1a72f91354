export {
  connectClient,
  type ConnectRetry,
  connectWithRetry,
  createClient,
  StoppedError,
  TemporalUnreachableError,
} from './connection';
export { countListed, oldestAge } from './count-listed';
export { refusalOf, refusedError } from './connection-failure';
export { GRPC_STATUS, grpcErrorOf } from './grpc-error';
export { createPurchaseReader, type PurchaseReader } from './purchase-reader';
export { newestOrderId } from './newest-order';
export { epochMsOf } from './proto-timestamp';
export { rootCauseOf } from './root-cause';
export { createLastReconciliationReader, type EndedReconciliation } from './last-reconciliation';
export { lookbackIssue } from './retention';
export { runningDeliveries, runningPurchases } from './list-filters';
export { startDelivery } from './start-delivery';
export { throughServerTimeouts } from './through-server-timeouts';
export { readTemporalTarget, TemporalConfigError, type TemporalTarget } from './target';
export { missingSearchAttributes, registerSearchAttributes, requireSearchAttributes } from './search-attributes';
export { withinMs } from './within-ms';
