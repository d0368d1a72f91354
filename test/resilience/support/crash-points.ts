import type { ActiveFault, Fault } from '../../../sandbox/index';
import type { Answer } from '../../support/receiver';
import type { TestEnvironment } from '../../support/test-environment';

type Action = NonNullable<Fault['action']>;
type Commit = NonNullable<Fault['commit']>;

/** A point at which a purchase is blocked until a process is killed. */
export interface CrashPoint {
  /** Shown when a cell fails. */
  name: string;
  items: Record<string, number>;
  /** Arranges the faults of the purchase. The returned function says whether the purchase has reached the point. */
  arrange(environment: FaultyEnvironment, referenceId: string): () => Promise<boolean>;
}

/** An environment whose receiver has a response per reference, and 204 for all others. */
export interface FaultyEnvironment extends TestEnvironment {
  answers: Map<string, Answer>;
}

/** Makes the receiver of an environment use `answers`. */
export function faulty(environment: TestEnvironment): FaultyEnvironment {
  const answers = new Map<string, Answer>();
  environment.receiver.respondWith(({ body }) => answers.get(body.data.referenceId) ?? 204);
  return { ...environment, answers };
}

/** From now on the partner and the checkout have no faults, and every order is old enough to have ended. */
export function heal({ sandbox, answers }: FaultyEnvironment): void {
  answers.clear();
  sandbox.clearFaults();
  sandbox.advance(70 * 60_000);
}

const AT_ONCE = { 'demo-instant': 2 };
const LATER = { 'demo-slow': 2 };

/** Before the write: a fault in the search before the placement. */
export function searching(name: string, action: Action): CrashPoint {
  return {
    name: `before the write: the search ${name}`,
    items: AT_ONCE,
    arrange: ({ sandbox }, referenceId) =>
      acted(sandbox.addFault({ operation: 'orders', referenceId, times: 'always', action })),
  };
}

/** After the write: a fault in place-order, before or after it has booked. */
export function placing(
  name: string,
  when: 'before' | 'after',
  fault: { action?: Action; commit?: Commit; times?: 'always' },
): CrashPoint {
  return {
    name: `placing (${when} the commit): ${name}`,
    items: AT_ONCE,
    arrange: ({ sandbox }, referenceId) => acted(sandbox.addFault({ operation: 'place', referenceId, when, ...fault })),
  };
}

/** After a response that proves nothing: a fault in each search of the confirmation. */
export function settling(name: string, when: 'before' | 'after', action: Action): CrashPoint {
  return {
    name: `settling what was lost ${when} the commit: the search ${name}`,
    items: AT_ONCE,
    arrange({ sandbox }, referenceId) {
      sandbox.addFault({ operation: 'place', referenceId, when, action: { type: 'reset' } });
      return acted(sandbox.addFault({ operation: 'orders', referenceId, nth: 2, times: 'always', action }));
    },
  };
}

/** While the order is open: a fault in every poll of its keys. */
export function polling(name: string, action: Action, items: Record<string, number> = LATER): CrashPoint {
  return {
    name: `polling: the keys ${name}`,
    items,
    arrange({ sandbox }, referenceId) {
      let fault: ActiveFault | undefined;
      return async () => {
        const [order] = fault ? [] : await sandbox.ordersOf(referenceId);
        if (order) fault = sandbox.addFault({ operation: 'keys', orderId: order.id, times: 'always', action });
        return (fault?.hits ?? 0) > 0;
      };
    },
  };
}

/** Before or after the checkout's 2xx. The receiver decides whether a response counts as received. */
export function delivering(answer: Answer): CrashPoint {
  return {
    name: `delivering: ${JSON.stringify(answer)}`,
    items: AT_ONCE,
    arrange({ receiver, answers }, referenceId) {
      answers.set(referenceId, answer);
      return async () => receiver.attemptsOf(referenceId).length > 0;
    },
  };
}

/** No fault except the kill, at the moment when the partner has booked. */
export function booked(): CrashPoint {
  return {
    name: 'after the response',
    items: AT_ONCE,
    arrange:
      ({ sandbox }, referenceId) =>
      async () =>
        sandbox.placeRequestsOf(referenceId) > 0,
  };
}

function acted(fault: ActiveFault): () => Promise<boolean> {
  return async () => fault.hits > 0;
}
