import { performance } from 'node:perf_hooks';
import { type ResponseKind, responseKindOf, isPartnerError, type PartnerOperation } from './errors';
import type { PermitClass } from './rate-limit';
import type { Order, PartnerResponse } from './types';

/** Observes a client for metrics. It gets durations and kinds, but no content, and must not throw. */
export interface PartnerObserver {
  /** @param ms without the wait for the permit */
  requestEnded(operation: PartnerOperation, response: ResponseKind, ms: number): void;
  /**
   * Called only with a rate limit.
   * @param granted false if no permit was free in time and nothing was sent
   */
  permitWaited(permitClass: PermitClass, granted: boolean, ms: number): void;
  /** An order contained the account balance, in the account's currency. */
  balanceSeen(account: NonNullable<Order['balance']>): void;
}

export interface RequestFacts {
  operation: PartnerOperation;
  referenceId?: string;
  orderId?: string;
}

/** Wraps a request that has its permit, for logs and traces. It calls `request` once and passes on the result. */
export type AroundRequest = <T>(
  facts: RequestFacts,
  request: () => Promise<PartnerResponse<T>>,
) => Promise<PartnerResponse<T>>;

export interface PartnerHooks {
  observer?: PartnerObserver;
  /** The first is the outermost. */
  around?: readonly AroundRequest[];
}

type Send<T> = () => Promise<PartnerResponse<T>>;

export function withHooks<T>({ around = [], observer }: PartnerHooks, facts: RequestFacts, send: Send<T>) {
  const observed = async () => {
    const began = performance.now();
    const report = (kind: ResponseKind) => observer?.requestEnded(facts.operation, kind, performance.now() - began);
    try {
      const response = await send();
      report('ok');
      return response;
    } catch (error) {
      if (isPartnerError(error)) report(responseKindOf(error));
      throw error;
    }
  };
  return around.reduceRight((within, wrap) => () => wrap(facts, within), observed)();
}
