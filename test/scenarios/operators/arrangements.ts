import { PARTNER_ORDER_ID } from '../../../src/contracts/search-attributes';
import type { Decision, HoldReason } from '../../../src/contracts/purchase';
import type { World } from '../../support/world';
import { handsOn, until } from './hands';

/** What the checkout answers, by reference and event type. */
export interface Checkout {
  refuses(referenceId: string, type: string, status: number): void;
  takes(referenceId: string): void;
}

interface Scene {
  world: World;
  checkout: Checkout;
  referenceId: string;
}

/** A purchase on its way into a hold. `rest` names an order that a person may choose instead. */
interface Arranged {
  referenceId: string;
  rest: Partial<Decision>;
  /** What else has to change for a decision to help. */
  onResolve?: () => Promise<void> | void;
}

export type Arrangement = (scene: Scene) => Promise<Arranged>;

/** A checkout that takes everything but what it was told to refuse. */
export function answering(world: World): Checkout {
  const refused = new Map<string, { type: string; status: number }>();
  world.receiver.answerWith(({ body }) => {
    const refusal = refused.get(body.data.referenceId);
    return refusal?.type === body.type ? refusal.status : 204;
  });
  return {
    refuses: (referenceId, type, status) => void refused.set(referenceId, { type, status }),
    takes: (referenceId) => void refused.delete(referenceId),
  };
}

/** How a purchase of two keys comes to be held, for each reason. */
export const ARRANGEMENTS: Record<HoldReason, Arrangement> = {
  async PLACEMENT_UNKNOWN({ world, referenceId }) {
    world.sandbox.addFault({ operation: 'place', referenceId, action: { type: 'reset' } });
    return bought(world, referenceId, 'demo-instant');
  },
  async OTHER_ITEMS({ world, referenceId }) {
    const items = [{ id: 'demo-image', quantity: 3 }];
    world.sandbox.addFault({ operation: 'place', referenceId, commit: { type: 'items', items } });
    world.sandbox.settings({ perLookMs: 30_000 });
    return bought(world, referenceId, 'demo-instant');
  },
  async ORDER_OF_ANOTHER_PURCHASE({ world, referenceId }) {
    const first = await world.bought({ 'demo-instant': 2 }, `first-${referenceId}`);
    await until(async () => {
      const query = `${PARTNER_ORDER_ID.name} = '${first.orderId}'`;
      return (await world.client.workflow.count(query)).count > 0;
    });
    const commit = { type: 'same-order-as', referenceId: first.referenceId } as const;
    world.sandbox.addFault({ operation: 'place', referenceId, commit });
    return bought(world, referenceId, 'demo-instant');
  },
  async MORE_KEYS_THAN_ORDERED({ world, referenceId }) {
    world.sandbox.settings({ perLookMs: 30_000 });
    return bought(world, referenceId, 'demo-extra');
  },
  async KEY_GONE({ world, checkout, referenceId }) {
    checkout.refuses(referenceId, 'purchase.delivered', 503);
    const arranged = await bought(world, referenceId, 'demo-instant');
    await handsOn(world, referenceId).pending('deliverEvent', 2);
    const [order] = await world.sandbox.ordersOf(referenceId);
    const [kept] = order!.items[0]!.keys!;
    await world.sandbox.changeOrder(order!.id, { keys: [[kept!.value, `replaced-${referenceId}`]] });
    return { ...arranged, onResolve: () => checkout.takes(referenceId) };
  },
  async DELIVERY_REFUSED({ world, checkout, referenceId }) {
    checkout.refuses(referenceId, 'purchase.delivered', 410);
    const arranged = await bought(world, referenceId, 'demo-instant');
    return { ...arranged, onResolve: () => checkout.takes(referenceId) };
  },
  // A day of tries is shown on the clock that skips; a receipt that is none ends the tries here.
  async DELIVERY_EXHAUSTED({ world, checkout, referenceId }) {
    checkout.refuses(referenceId, 'purchase.delivered', 503);
    const arranged = await bought(world, referenceId, 'demo-instant');
    const hands = handsOn(world, referenceId);
    await hands.pending('deliverEvent', 2);
    await hands.complete('deliverEvent', 'no receipt');
    return { ...arranged, onResolve: () => checkout.takes(referenceId) };
  },
};

async function bought(world: World, referenceId: string, product: string): Promise<Arranged> {
  await world.buy({ [product]: 2 }, referenceId);
  const items = [{ id: product, quantity: 2 }];
  const right = await world.sandbox.placeManualOrder({ referenceId: `right-${referenceId}`, items });
  return { referenceId, rest: { orderId: right.id } };
}
