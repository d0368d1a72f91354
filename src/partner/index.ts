export { createPartnerClient, type PartnerClient, type PartnerClientOptions } from './client';
export {
  AccessError,
  ClosedError,
  ConnectionLostError,
  IncompleteListError,
  InvalidArgumentError,
  isPartnerError,
  NotFoundError,
  RefusedError,
  StatusError,
  TimeoutError,
  TooLateError,
  UnreachableError,
  UnreadableAnswerError,
  type PartnerError,
  type PartnerOperation,
} from './errors';
export * from './types';
