export { createPartnerClient, type PartnerClient, type PartnerClientOptions } from './client';
export { type ResponseKind, isPartnerError, PartnerError } from './errors';
export type { AroundRequest, PartnerObserver } from './hooks';
export { type HistoryOptions, oldestPossible } from './lists';
export type { PermitClass, PermitRequest } from './rate-limit';
export { limitDelays, type ReadRetry, withRetry } from './retry';
export {
  countIds,
  partitionByReadability,
  isUnreadable,
  type NewestEnd,
  newestEndOf,
  newestOf,
  type UnreadableRow,
} from './rows';
export type { BeforeWrite } from './transport';
export * from './types';
