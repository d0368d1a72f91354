import { PARTNER_ORDER_ID } from '../../src/contracts/search-attributes';
import type { Decision } from '../../src/contracts/purchase';
import type { HoldReason } from '../../src/domain/holds';
import type { TestEnvironment } from './test-environment';
import { operatorOf } from './operator';
import { waitUntil } from './wait-until';

/** What the checkout answers, by reference and event type. */
export interface Checkout {
  refuses(referenceId: string, type: string, status: number): void;
  takes(referenceId: string): void;
}

interface Parts {
  env: TestEnvironment;
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
export function scriptedCheckout(env: TestEnvironment): Checkout {
  const refused = new Map<string, { type: string; status: number }>();
  env.receiver.answerWith(({ body }) => {
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
  async PLACEMENT_UNKNOWN({ env, referenceId }) {
    env.sandbox.addFault({ operation: 'place', referenceId, action: { type: 'reset' } });
    return bought(env, referenceId, 'demo-instant');
  },
  async OTHER_ITEMS({ env, referenceId }) {
    const items = [{ id: 'demo-image', quantity: 3 }];
    env.sandbox.addFault({ operation: 'place', referenceId, commit: { type: 'items', items } });
    env.sandbox.settings({ perLookMs: 30_000 });
    return bought(env, referenceId, 'demo-instant');
  },
  async ORDER_OF_ANOTHER_PURCHASE({ env, referenceId }) {
    const first = await env.bought({ 'demo-instant': 2 }, `first-${referenceId}`);
    await env.untilListed(`${PARTNER_ORDER_ID.name} = '${first.orderId}'`, 1);
    const commit = { type: 'same-order-as', referenceId: first.referenceId } as const;
    env.sandbox.addFault({ operation: 'place', referenceId, commit });
    return bought(env, referenceId, 'demo-instant');
  },
  async MORE_KEYS_THAN_ORDERED({ env, referenceId }) {
    env.sandbox.settings({ perLookMs: 30_000 });
    return bought(env, referenceId, 'demo-extra');
  },
  async ORDER_CHANGES({ env, referenceId }) {
    const arranged = await bought(env, referenceId, 'demo-never');
    const order = await waitUntil('there is an order', async () => (await env.sandbox.ordersOf(referenceId))[0]);
    changeAtEachRead(env, { orderId: order.id, product: 'demo-never', reads: READS_UNTIL_HELD });
    await env.sandbox.changeOrder(order.id, {
      status: 'COMPLETED',
      keys: [['A', 'B'].map((key) => `${key}-${referenceId}`)],
    });
    return arranged;
  },
  async DELIVERY_REFUSED({ env, checkout, referenceId }) {
    checkout.refuses(referenceId, 'purchase.delivered', 410);
    const arranged = await bought(env, referenceId, 'demo-instant');
    return { ...arranged, onResolve: () => checkout.takes(referenceId) };
  },
  // A day of tries is shown on the clock that skips; a receipt that is none ends the tries here.
  async DELIVERY_EXHAUSTED({ env, checkout, referenceId }) {
    checkout.refuses(referenceId, 'purchase.delivered', 503);
    const arranged = await bought(env, referenceId, 'demo-instant');
    const operator = operatorOf(env, referenceId);
    await operator.pending('deliverSale', 2);
    await operator.complete('deliverSale', 'no receipt');
    return { ...arranged, onResolve: () => checkout.takes(referenceId) };
  },
};

/** A review and a delivery each read the order, and it is reviewed three times more. */
const READS_UNTIL_HELD = 8;

/** The order shows two other keys each time that it is read. */
export function changeAtEachRead(
  { sandbox }: Pick<TestEnvironment, 'sandbox'>,
  { orderId, product, reads }: { orderId: string; product: string; reads: number },
): void {
  for (let read = 1; read <= reads; read++) {
    const keys = ['A', 'B'].map((key) => ({ type: 'text', value: `${key}-${read}-${orderId}` }));
    const data = { status: 'COMPLETED', products: [{ id: product, title: product, quantity: 2, keys }] };
    sandbox.addFault({ operation: 'keys', orderId, when: 'after', action: { type: 'merge', data } });
  }
}

async function bought(env: TestEnvironment, referenceId: string, product: string): Promise<Arranged> {
  await env.buy({ [product]: 2 }, referenceId);
  const items = [{ id: product, quantity: 2 }];
  const right = await env.sandbox.placeManualOrder({ referenceId: `right-${referenceId}`, items });
  return { referenceId, rest: { orderId: right.id } };
}
