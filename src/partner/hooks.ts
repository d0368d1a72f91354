import { performance } from 'node:perf_hooks';
import { type AnswerKind, answerKindOf, isPartnerError, type PartnerOperation } from './errors';
import type { PermitClass } from './rate-limit';
import type { Answer, Order } from './types';

/** Sees what a client does, for metrics: times and kinds, nothing of the content. It must not throw. */
export interface PartnerObserver {
  /** A request has ended. The time does not include the wait for its permit. */
  requestEnded(operation: PartnerOperation, answer: AnswerKind, ms: number): void;
  /** A request has waited under the rate limit. @param granted false if no permit came in time, so that nothing was sent */
  permitWaited(permitClass: PermitClass, granted: boolean, ms: number): void;
  /** An order has shown the account, in the account's currency. */
  balanceSeen(account: NonNullable<Order['balance']>): void;
}

export interface RequestFacts {
  operation: PartnerOperation;
  referenceId?: string;
  orderId?: string;
}

/** Wraps one request that has its permit, for logs and traces. It calls `request` once and passes on how that ends. */
export type AroundRequest = <T>(facts: RequestFacts, request: () => Promise<Answer<T>>) => Promise<Answer<T>>;

export interface PartnerHooks {
  observer?: PartnerObserver;
  /** The first goes around all others. */
  around?: readonly AroundRequest[];
}

type Send<T> = () => Promise<Answer<T>>;

export function withHooks<T>({ around = [], observer }: PartnerHooks, facts: RequestFacts, send: Send<T>) {
  const observed = async () => {
    const began = performance.now();
    const report = (answer: AnswerKind) => observer?.requestEnded(facts.operation, answer, performance.now() - began);
    try {
      const answer = await send();
      report('ok');
      return answer;
    } catch (error) {
      if (isPartnerError(error)) report(answerKindOf(error));
      throw error;
    }
  };
  return around.reduceRight((within, wrap) => () => wrap(facts, within), observed)();
}
