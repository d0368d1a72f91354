import { randomUUID } from 'node:crypto';
import { PARTNER_ORDER_ID } from '../../src/contracts/search-attributes';
import type { Decision, HoldReason } from '../../src/domain/holds';
import { MAX_BODY_BYTES, type TestEnvironment } from './test-environment';
import { operatorOf } from './operator';

/** How to resolve a purchase that has been arranged to be held. */
interface Arranged {
  /** The id of the order that a person may choose. */
  right: string;
  /** Removes the cause of the hold, so that a decision can succeed. */
  onResolve?: () => void;
}

type Arrange = (env: TestEnvironment, referenceId: string) => Promise<Arranged>;

/** Starts a purchase of two keys that will be held for this reason. */
export async function purchaseBeforeHold(env: TestEnvironment, reason: HoldReason) {
  const referenceId = env.reference();
  const { right, onResolve } = await ARRANGEMENTS[reason](env, referenceId);
  const operator = operatorOf(env, referenceId);
  return {
    referenceId,
    operator,
    right,
    /** Removes the cause of the hold and decides the open hold, or the named one. */
    async decide(decision: Decision, holdId?: string) {
      onResolve?.();
      await operator.resolve(decision, { holdId, ...(decision === 'order' && { orderId: right }) });
    },
  };
}

/** Starts a purchase of two keys and waits until it is held for this reason. */
export async function heldPurchase(env: TestEnvironment, reason: HoldReason) {
  const purchase = await purchaseBeforeHold(env, reason);
  return { ...purchase, hold: await purchase.operator.held(reason) };
}

const ARRANGEMENTS: Record<HoldReason, Arrange> = {
  async PLACEMENT_UNKNOWN(env, referenceId) {
    env.sandbox.addFault({ operation: 'place', referenceId, action: { type: 'reset' } });
    return bought(env, referenceId, 'demo-instant');
  },
  async OTHER_ITEMS(env, referenceId) {
    const items = [{ id: 'demo-image', quantity: 3 }];
    env.sandbox.addFault({ operation: 'place', referenceId, commit: { type: 'items', items } });
    env.sandbox.settings({ agePerPollMs: 30_000 });
    return bought(env, referenceId, 'demo-instant');
  },
  async ORDER_OF_ANOTHER_PURCHASE(env, referenceId) {
    const first = await env.bought({ 'demo-instant': 2 }, `first-${referenceId}`);
    await env.untilListed(`${PARTNER_ORDER_ID.name} = '${first.orderId}'`, 1);
    const commit = { type: 'same-order-as', referenceId: first.referenceId } as const;
    env.sandbox.addFault({ operation: 'place', referenceId, commit });
    return bought(env, referenceId, 'demo-instant');
  },
  async MORE_KEYS_THAN_ORDERED(env, referenceId) {
    env.sandbox.settings({ agePerPollMs: 30_000 });
    return bought(env, referenceId, 'demo-extra');
  },
  async ORDER_CHANGES(env, referenceId) {
    const arranged = await bought(env, referenceId, 'demo-never');
    const { id } = await env.orderOf(referenceId);
    changeAtEachRead(env, { orderId: id, product: 'demo-never', reads: READS_UNTIL_HELD });
    await env.sandbox.changeOrder(id, { status: 'COMPLETED', keys: [[randomUUID(), randomUUID()]] });
    return arranged;
  },
  async ORDER_TOO_LARGE(env, referenceId) {
    const arranged = await bought(env, referenceId, 'demo-never');
    const { id: orderId } = await env.orderOf(referenceId);
    const makeReadable = makeTooLarge(env, orderId);
    await env.sandbox.changeOrder(orderId, { status: 'COMPLETED' });
    return { ...arranged, onResolve: makeReadable };
  },
  async DELIVERY_REFUSED(env, referenceId) {
    env.receiver.responseTo(referenceId, 410);
    const arranged = await bought(env, referenceId, 'demo-instant');
    return { ...arranged, onResolve: () => env.receiver.take(referenceId) };
  },
  // Another test covers a full day of attempts with skipped time. Here an invalid receipt ends them.
  async DELIVERY_EXHAUSTED(env, referenceId) {
    env.receiver.responseTo(referenceId, 503);
    const arranged = await bought(env, referenceId, 'demo-instant');
    const operator = operatorOf(env, referenceId);
    await operator.pending('deliverSale', 2);
    await operator.complete('deliverSale', 'no receipt');
    return { ...arranged, onResolve: () => env.receiver.take(referenceId) };
  },
};

/**
 * Makes the order exceed the size limit of the partner client in a test environment.
 * @returns ends this
 */
export function makeTooLarge({ sandbox }: Pick<TestEnvironment, 'sandbox'>, orderId: string): () => void {
  const action = { type: 'merge', data: { padding: 'x'.repeat(2 * MAX_BODY_BYTES) } } as const;
  const fault = sandbox.addFault({ operation: 'keys', orderId, when: 'after', times: 'always', action });
  return () => void (fault.times = 1);
}

/** Each review and each delivery reads the order once. There are four of both before the hold. */
const READS_UNTIL_HELD = 8;

/** Makes the order show two different keys at each read. */
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
  return { right: (await env.orderByHand({ [product]: 2 }, `${referenceId}-right`)).id };
}
