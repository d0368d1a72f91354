import { PARTNER_ORDER_ID } from '../../src/contracts/search-attributes';
import type { Decision, HoldReason } from '../../src/contracts/purchase';
import type { TestEnvironment } from './test-environment';
import { operatorOf } from './operator';

/** What the checkout answers, by reference and event type. */
export interface Checkout {
  refuses(referenceId: string, type: string, status: number): void;
  takes(referenceId: string): void;
}

interface Parts {
  environment: TestEnvironment;
  checkout: Checkout;
  referenceId: string;
}

/** A purchase that is about to be held. `rest` names an order that a person may choose instead. */
interface Arranged {
  referenceId: string;
  rest: Partial<Decision>;
  /** What else has to change for a decision to help. */
  onResolve?: () => Promise<void> | void;
}

export type Arrangement = (parts: Parts) => Promise<Arranged>;

/** A checkout that takes everything but what it was told to refuse. */
export function scriptedCheckout(environment: TestEnvironment): Checkout {
  const refused = new Map<string, { type: string; status: number }>();
  environment.receiver.answerWith(({ body }) => {
    const refusal = refused.get(body.data.referenceId);
    return refusal?.type === body.type ? refusal.status : 204;
  });
  return {
    refuses: (referenceId, type, status) => void refused.set(referenceId, { type, status }),
    takes: (referenceId) => void refused.delete(referenceId),
  };
}

/** How a purchase of two keys comes to be held, for each reason. */
export const HOLD_ARRANGEMENTS: Record<HoldReason, Arrangement> = {
  async PLACEMENT_UNKNOWN({ environment, referenceId }) {
    environment.sandbox.addFault({ operation: 'place', referenceId, action: { type: 'reset' } });
    return bought(environment, referenceId, 'demo-instant');
  },
  async OTHER_ITEMS({ environment, referenceId }) {
    const items = [{ id: 'demo-image', quantity: 3 }];
    environment.sandbox.addFault({ operation: 'place', referenceId, commit: { type: 'items', items } });
    environment.sandbox.settings({ perLookMs: 30_000 });
    return bought(environment, referenceId, 'demo-instant');
  },
  async ORDER_OF_ANOTHER_PURCHASE({ environment, referenceId }) {
    const first = await environment.bought({ 'demo-instant': 2 }, `first-${referenceId}`);
    await environment.untilListed(`${PARTNER_ORDER_ID.name} = '${first.orderId}'`, 1);
    const commit = { type: 'same-order-as', referenceId: first.referenceId } as const;
    environment.sandbox.addFault({ operation: 'place', referenceId, commit });
    return bought(environment, referenceId, 'demo-instant');
  },
  async MORE_KEYS_THAN_ORDERED({ environment, referenceId }) {
    environment.sandbox.settings({ perLookMs: 30_000 });
    return bought(environment, referenceId, 'demo-extra');
  },
  async KEY_GONE({ environment, checkout, referenceId }) {
    checkout.refuses(referenceId, 'purchase.delivered', 503);
    const arranged = await bought(environment, referenceId, 'demo-instant');
    await operatorOf(environment, referenceId).pending('deliverEvent', 2);
    const [order] = await environment.sandbox.ordersOf(referenceId);
    const [kept] = order!.items[0]!.keys!;
    await environment.sandbox.changeOrder(order!.id, { keys: [[kept!.value, `replaced-${referenceId}`]] });
    return { ...arranged, onResolve: () => checkout.takes(referenceId) };
  },
  async DELIVERY_REFUSED({ environment, checkout, referenceId }) {
    checkout.refuses(referenceId, 'purchase.delivered', 410);
    const arranged = await bought(environment, referenceId, 'demo-instant');
    return { ...arranged, onResolve: () => checkout.takes(referenceId) };
  },
  // A day of tries is shown on the clock that skips; a receipt that is none ends the tries here.
  async DELIVERY_EXHAUSTED({ environment, checkout, referenceId }) {
    checkout.refuses(referenceId, 'purchase.delivered', 503);
    const arranged = await bought(environment, referenceId, 'demo-instant');
    const operator = operatorOf(environment, referenceId);
    await operator.pending('deliverEvent', 2);
    await operator.complete('deliverEvent', 'no receipt');
    return { ...arranged, onResolve: () => checkout.takes(referenceId) };
  },
};

async function bought(environment: TestEnvironment, referenceId: string, product: string): Promise<Arranged> {
  await environment.buy({ [product]: 2 }, referenceId);
  const items = [{ id: product, quantity: 2 }];
  const right = await environment.sandbox.placeManualOrder({ referenceId: `right-${referenceId}`, items });
  return { referenceId, rest: { orderId: right.id } };
}
