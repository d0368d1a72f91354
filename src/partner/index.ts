export { createPartnerClient, type PartnerClient, type PartnerClientOptions } from './client';
export type { AnswerKind, PartnerObserver } from './observer';
export { isPartnerError, PartnerError } from './errors';
export type { BeforeWrite } from './transport';
export { type ReadRetry, withRetry } from './retry';
export type { RequestTurn } from './slots';
export { MAX_PAGE_SIZE } from './arguments';
export { byReadability, isUnreadable } from './history-rows';
export * from './types';
