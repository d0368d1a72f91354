import type { PartnerOperation } from './error-kind';
import type { Answer } from './types';

/** What a request is about. */
export interface RequestFacts {
  operation: PartnerOperation;
  referenceId?: string;
  orderId?: string;
}

/** Goes around one request that has its slot, for logs and traces. It calls `request` once, and hands on how it ends. */
export type AroundRequest = <T>(facts: RequestFacts, request: () => Promise<Answer<T>>) => Promise<Answer<T>>;

/** The first goes around all others. */
export function inside<T>(
  around: readonly AroundRequest[],
  facts: RequestFacts,
  request: () => Promise<Answer<T>>,
): Promise<Answer<T>> {
  return around.reduceRight((within, wrap) => () => wrap(facts, within), request)();
}
