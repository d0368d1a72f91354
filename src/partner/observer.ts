import { performance } from 'node:perf_hooks';
import type { PartnerErrorKind, PartnerOperation } from './error-kind';
import { isPartnerError, type PartnerError } from './errors';
import type { RequestPriority } from './slot-schedule';
import type { Order } from './types';

/** What became of a request: `ok`, the class of an error status, or the kind of the error. */
export type AnswerKind = 'ok' | '3xx' | '4xx' | '429' | '5xx' | Exclude<PartnerErrorKind, 'status'>;

/** Sees what a client does, for metrics: times and kinds, nothing of what is said. It must not throw. */
export interface PartnerObserver {
  /** A request has ended that had its slot. Waiting for it is not part of the time. */
  requestEnded(operation: PartnerOperation, answer: AnswerKind, ms: number): void;
  /** A request under a ceiling has waited for its slot. @param granted false where none came in time, and nothing was sent */
  slotWaited(priority: RequestPriority, granted: boolean, ms: number): void;
  /** An order has shown the account, in the account's currency. */
  balanceSeen(account: NonNullable<Order['balance']>): void;
}

/** Reports how a request ends, and how long it took. */
export async function observeRequest<T>(
  observer: PartnerObserver | undefined,
  operation: PartnerOperation,
  request: () => Promise<T>,
): Promise<T> {
  const began = performance.now();
  const report = (answer: AnswerKind) => observer?.requestEnded(operation, answer, performance.now() - began);
  try {
    const answer = await request();
    report('ok');
    return answer;
  } catch (error) {
    if (isPartnerError(error)) report(answerKindOf(error));
    throw error;
  }
}

function answerKindOf({ kind, httpStatus = 0 }: PartnerError): AnswerKind {
  if (kind !== 'status') return kind;
  if (httpStatus === 429) return '429';
  if (httpStatus >= 500) return '5xx';
  return httpStatus >= 400 ? '4xx' : '3xx';
}
