export {
  connectClient,
  type ConnectRetry,
  connectWithRetry,
  createClient,
  StoppedError,
  TemporalUnreachableError,
} from './connection';
export { refusalOf, refusedError } from './connection-failure';
export { diagnoseNoResponse } from './diagnose-no-response';
export {
  epochMsOf,
  GRPC_STATUS,
  grpcErrorOf,
  listPollers,
  pendingFailure,
  retryServerTimeouts,
  rootCauseOf,
} from './grpc';
export { countListed, newestOrderId, oldestAge, runningDeliveries, runningPurchases } from './visibility';
export { createPurchaseReader, type PurchaseReader } from './purchase-reader';
export type { Run } from './run-history';
export {
  createLastReconciliationReader,
  type EndedReconciliation,
  lookbackIssue,
  isScheduled,
  reachOf,
} from './reconciliations';
export {
  missingSearchAttributes,
  registerSearchAttributes,
  requireSearchAttributes,
  unknownNamespace,
  unknownNamespaceIn,
} from './search-attributes';
export { blocksDeliveries, startDelivery } from './start-delivery';
export { isKeyUnencrypted, readTemporalTarget, TemporalConfigError, type TemporalTarget } from './target';
export { withTimeout } from './with-timeout';
