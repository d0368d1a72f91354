import type { Answer } from '../../support/receiver';
import type { ActiveFault, Fault } from '../../../src/sandbox/index';
import type { World } from '../../support/world';

type Action = NonNullable<Fault['action']>;
type Commit = NonNullable<Fault['commit']>;

/** A purchase that is brought to one moment of its life and kept there until a process is struck. */
export interface Moment {
  /** Told when a cell fails. */
  name: string;
  items: Record<string, number>;
  /** Arranges what happens to the purchase of this reference. The returned function says whether the moment has come. */
  arrange(stage: Stage, referenceId: string): () => Promise<boolean>;
}

/** A world whose receiver answers each reference as it was told, and 204 where it was told nothing. */
export interface Stage {
  world: World;
  answers: Map<string, Answer>;
}

/** Makes the receiver of a world obey `answers`. */
export function stageOf(world: World): Stage {
  const answers = new Map<string, Answer>();
  world.receiver.answerWith(({ body }) => answers.get(body.data.referenceId) ?? 204);
  return { world, answers };
}

/** From now on nothing goes wrong at the partner or the checkout, and every order is old enough to have ended. */
export function heal({ world, answers }: Stage): void {
  answers.clear();
  world.sandbox.clearFaults();
  world.sandbox.advance(70 * 60_000);
}

const AT_ONCE = { 'demo-instant': 2 };
const LATER = { 'demo-slow': 2 };

/** Before the write: the look that comes before every placement is faulted. */
export function searching(name: string, action: Action): Moment {
  return {
    name: `before the write: the search ${name}`,
    items: AT_ONCE,
    arrange: ({ world }, referenceId) =>
      acted(world.sandbox.addFault({ operation: 'orders', referenceId, times: 'always', action })),
  };
}

/** After the write: place-order is faulted, before or after it has booked. */
export function placing(
  name: string,
  when: 'before' | 'after',
  fault: { action?: Action; commit?: Commit; times?: 'always' },
): Moment {
  return {
    name: `placing (${when} the commit): ${name}`,
    items: AT_ONCE,
    arrange: ({ world }, referenceId) =>
      acted(world.sandbox.addFault({ operation: 'place', referenceId, when, ...fault })),
  };
}

/** After an answer that proves nothing, while the history is watched: each of these looks is faulted. */
export function settling(name: string, when: 'before' | 'after', action: Action): Moment {
  return {
    name: `settling what was lost ${when} the commit: the look ${name}`,
    items: AT_ONCE,
    arrange({ world }, referenceId) {
      world.sandbox.addFault({ operation: 'place', referenceId, when, action: { type: 'reset' } });
      return acted(world.sandbox.addFault({ operation: 'orders', referenceId, nth: 2, times: 'always', action }));
    },
  };
}

/** While the order is open: every look at its keys is faulted. */
export function looking(name: string, action: Action, items: Record<string, number> = LATER): Moment {
  return {
    name: `looking: the keys ${name}`,
    items,
    arrange({ world }, referenceId) {
      let fault: ActiveFault | undefined;
      return async () => {
        const [order] = fault ? [] : await world.sandbox.ordersOf(referenceId);
        if (order) fault = world.sandbox.addFault({ operation: 'keys', orderId: order.id, times: 'always', action });
        return (fault?.hits ?? 0) > 0;
      };
    },
  };
}

/** Before or after the checkout's 2xx: whether an answer counts as received, the receiver says. */
export function delivering(answer: Answer): Moment {
  return {
    name: `delivering: ${JSON.stringify(answer)}`,
    items: AT_ONCE,
    arrange({ world, answers }, referenceId) {
      answers.set(referenceId, answer);
      return async () => world.receiver.attempts.some(({ body }) => body.data.referenceId === referenceId);
    },
  };
}

/** Nothing goes wrong but the blow, which comes the moment the partner has booked. */
export function booked(): Moment {
  return {
    name: 'after the answer',
    items: AT_ONCE,
    arrange:
      ({ world }, referenceId) =>
      async () =>
        world.sandbox.placeRequestsOf(referenceId) > 0,
  };
}

function acted(fault: ActiveFault): () => Promise<boolean> {
  return async () => fault.hits > 0;
}
