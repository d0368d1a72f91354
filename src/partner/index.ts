export { createPartnerClient, type PartnerClient, type PartnerClientOptions, type PermitRequest } from './client';
export type { AroundRequest } from './around';
export type { AnswerKind, PartnerObserver } from './observer';
export { isPartnerError, PartnerError } from './errors';
export type { BeforeWrite } from './transport';
export { limitPauses, type ReadRetry, withRetry } from './retry';
export { MAX_PAGE_SIZE } from './arguments';
export { byReadability, isUnreadable } from './history-rows';
export * from './types';
