import { performance } from 'node:perf_hooks';
import { type ResponseKind, responseKindOf, isPartnerError, type PartnerOperation } from './errors';
import type { PermitClass } from './rate-limit';
import type { Answer, Order } from './types';

/** Observes a client for metrics. It sees times and kinds, but no content, and must not throw. */
export interface PartnerObserver {
  /** @param ms without the wait for the permit */
  requestEnded(operation: PartnerOperation, answer: ResponseKind, ms: number): void;
  /** Only under a rate limit. @param granted false if no permit came in time and nothing was sent */
  permitWaited(permitClass: PermitClass, granted: boolean, ms: number): void;
  /** An order showed the account balance, in the account's currency. */
  balanceSeen(account: NonNullable<Order['balance']>): void;
}

export interface RequestFacts {
  operation: PartnerOperation;
  referenceId?: string;
  orderId?: string;
}

/** Wraps a request that has its permit, for logs and traces. It calls `request` once and passes on the outcome. */
export type AroundRequest = <T>(facts: RequestFacts, request: () => Promise<Answer<T>>) => Promise<Answer<T>>;

export interface PartnerHooks {
  observer?: PartnerObserver;
  /** The first is the outermost. */
  around?: readonly AroundRequest[];
}

type Send<T> = () => Promise<Answer<T>>;

export function withHooks<T>({ around = [], observer }: PartnerHooks, facts: RequestFacts, send: Send<T>) {
  const observed = async () => {
    const began = performance.now();
    const report = (answer: ResponseKind) => observer?.requestEnded(facts.operation, answer, performance.now() - began);
    try {
      const answer = await send();
      report('ok');
      return answer;
    } catch (error) {
      if (isPartnerError(error)) report(responseKindOf(error));
      throw error;
    }
  };
  return around.reduceRight((within, wrap) => () => wrap(facts, within), observed)();
}
