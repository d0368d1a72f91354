import fc from 'fast-check';
import type { Accepted } from '../../../src/domain/review-order';
import type { KeyIds } from '../../../src/domain/key-ids';
import type { OrderSnapshot } from '../../../src/domain/order';
import { PURCHASE_OUTCOMES, type PurchaseOutcome } from '../../../src/domain/purchase-state';
import { type DeliveryPlan, type EndedPurchase, planDelivery, stateAfter } from '../../../src/domain/plan-delivery';
import { keysIn, line } from './orders';

const items = [{ productId: 'p', quantity: 4 }];
const REFUNDED = 'purchase.refunded';
const idsOf = (keys: string): KeyIds => (keys === '' ? {} : { p: keys.split('') });

const orderOf = (status: string, keys: string): OrderSnapshot => ({
  orderId: 'o-1',
  status,
  lines: [line('p', keys, 4)],
});

/** A sale of four keys. The outcome event carried the keys `named`; the checkout has confirmed `confirmed`. */
function saleOf(
  outcome: PurchaseOutcome | undefined,
  order: OrderSnapshot | undefined,
  [named, confirmed = named]: [named: string, confirmed?: string],
  ...keylessEvents: string[]
): EndedPurchase {
  const keys = { outcomeKeyIds: idsOf(named), receivedKeyIds: idsOf(confirmed) };
  const earlier = { keylessEvents, refundReceived: keylessEvents.includes(REFUNDED) };
  return { referenceId: 'SALE-1', items, outcome, orderId: 'o-1', order, ...earlier, ...keys };
}

function summarize(plan: DeliveryPlan): string {
  if (plan.kind === 'issue') return `issue: ${plan.issue}`;
  if (plan.kind === 'nothing') return `nothing${plan.missing > 0 ? `, ${plan.missing} missing` : ''}: ${plan.reason}`;
  const { event, newKeys, missing } = plan;
  const keys = keysIn(event.lines ?? []);
  const counts = keys === '' ? '' : ` ${keys}, ${newKeys} new${missing > 0 ? `, ${missing} missing` : ''}`;
  return `${event.type.slice('purchase.'.length)}${counts}`;
}

const PARTLY = 'PARTIALLY_DELIVERED';
const HAS_ALL = 'the checkout has every key of the order';
const LACKS_3 = `nothing, 3 missing: ${HAS_ALL}`;

describe('what is sent after a purchase of four keys has ended, automatically and on request', () => {
  it.each<[PurchaseOutcome | undefined, string, string, [string, string?], string, string?]>([
    // outcome; order status and keys now; [keys of the outcome event, keys confirmed since]; sent unasked; sent if asked
    ['OVERDUE', 'PENDING', '', [''], 'nothing: its order o-1 is PENDING', 'overdue'],
    ['OVERDUE', 'COMPLETED', 'abcd', [''], 'late_delivery abcd, 4 new'],
    ['OVERDUE', 'PARTIAL_COMPLETED', 'a', [''], 'late_delivery a, 1 new, 3 missing'],
    ['OVERDUE', 'COMPLETED', 'abcd', ['', 'a'], 'late_delivery abcd, 3 new'],
    ['OVERDUE', 'FAILED', '', [''], 'nothing: its order o-1 is FAILED', 'overdue'],
    ['OVERDUE', 'REFUNDED', '', [''], 'refunded'],
    ['DELIVERED', 'COMPLETED', 'dbca', ['abcd'], `nothing: ${HAS_ALL}`, 'delivered dbca, 0 new'],
    ['DELIVERED', 'COMPLETED', 'abce', ['abcd'], 'late_delivery abce, 1 new'],
    ['DELIVERED', 'PROCESSING', '', ['abcd'], 'nothing: its order o-1 is PROCESSING'],
    ['DELIVERED', 'REFUNDED', 'abcd', ['abcd'], 'refunded'],
    [PARTLY, 'PARTIAL_COMPLETED', 'a', ['a'], LACKS_3, 'partially_delivered a, 0 new, 3 missing'],
    [PARTLY, 'PARTIAL_COMPLETED', 'abc', ['a'], 'late_delivery abc, 2 new, 1 missing'],
    [PARTLY, 'COMPLETED', 'abcd', ['a', 'abcd'], `nothing: ${HAS_ALL}`, 'late_delivery abcd, 0 new'],
    [PARTLY, 'PARTIAL_COMPLETED', '', [''], `nothing, 4 missing: ${HAS_ALL}`, 'partially_delivered'],
    [PARTLY, 'COMPLETED', '', ['a'], `nothing, 4 missing: ${HAS_ALL}`, 'nothing: its order o-1 contains no keys'],
    // A stopped purchase has no record of what it delivered.
    [undefined, 'COMPLETED', 'abcd', [''], 'late_delivery abcd, 4 new'],
    [undefined, 'PENDING', '', [''], 'nothing: its order o-1 is PENDING'],
    [undefined, 'FAILED', '', [''], 'nothing: its order o-1 is FAILED'],
    ['DELIVERED', 'COMPLETED', 'abcde', ['abcd'], 'issue: the order contains 5 keys of p; ordered: 4'],
  ])(
    '%s: the order is %s with keys "%s", and the checkout has %j',
    (outcome, status, keys, had, byItself, again = byItself) => {
      const sale = saleOf(outcome, orderOf(status, keys), had);
      expect([summarize(planDelivery(sale, false)), summarize(planDelivery(sale, true))]).toEqual([byItself, again]);
    },
  );

  it.each([REFUNDED, 'purchase.failed', 'purchase.abandoned', 'purchase.cancelled'])(
    'after the checkout has received %s, keys that the order has now are not delivered unless an operator accepted it',
    (event) => {
      for (const outcome of ['OVERDUE', 'DELIVERED', PARTLY, undefined] as const) {
        const sale = saleOf(outcome, orderOf('COMPLETED', 'abcd'), [''], event);
        const issue = `issue: the order has keys, but the checkout may already have received ${event}`;
        expect([summarize(planDelivery(sale, false)), summarize(planDelivery(sale, true))]).toEqual([issue, issue]);
        const accepted = { ...sale, accepted: { keylessEvents: [event] } };
        expect(summarize(planDelivery(accepted, false))).toBe('late_delivery abcd, 4 new');
        // An operator who accepted keys after one event has not accepted keys after a later one.
        const later = 'purchase.rejected';
        const again = planDelivery({ ...accepted, keylessEvents: [event, later] }, true);
        expect(summarize(again)).toBe(`issue: the order has keys, but the checkout may already have received ${later}`);
      }
    },
  );

  it.each(['FAILED', 'REFUNDED', 'REJECTED', 'NOT_PLACED', 'CANCELLED', 'ABANDONED'] as const)(
    '%s: keys are never delivered, and its event is repeated only on request',
    (outcome) => {
      for (const order of [undefined, orderOf('COMPLETED', 'abcd')]) {
        expect(summarize(planDelivery(saleOf(outcome, order, ['']), false))).toBe(`nothing: it ended as ${outcome}`);
        expect(summarize(planDelivery(saleOf(outcome, order, ['']), true))).toBe(outcome.toLowerCase());
      }
    },
  );

  it('reports a refund once, and again only on request', () => {
    const sale = saleOf('DELIVERED', orderOf('REFUNDED', ''), ['abcd'], REFUNDED);
    expect(summarize(planDelivery(sale, false))).toBe('nothing: the checkout knows of the refund');
    expect(summarize(planDelivery(sale, true))).toBe('refunded');
  });

  const oneR = { productId: 'r', quantity: 2, keys: 1 };
  const OF_R = 'the order contains r, which was not bought';
  it.each<[string, Partial<OrderSnapshot>, Accepted, string]>([
    [
      'that also belongs to another purchase',
      { claimedBy: 'SALE-2' },
      { owner: true },
      'order o-1 also belongs to SALE-2',
    ],
    ['with other items', { lines: [line('r', 'ab', 2)] }, { items: [oneR] }, OF_R],
  ])('withholds the keys of an order %s unless an operator accepted it', (_, shown, accepted, issue) => {
    const sale = saleOf('OVERDUE', { ...orderOf('COMPLETED', 'ab'), ...shown }, ['']);
    expect(summarize(planDelivery(sale, true))).toBe(`issue: ${issue}`);
    expect(summarize(planDelivery({ ...sale, accepted }, false))).toContain('late_delivery ab');
  });

  it('compares all items of an adopted order, because another request may have placed it', () => {
    const items = [...saleOf('OVERDUE', undefined, ['']).items, { productId: 'q', quantity: 1 }];
    const sale = { ...saleOf('OVERDUE', orderOf('COMPLETED', 'abcd'), ['']), items };
    expect(summarize(planDelivery(sale, false))).toContain('late_delivery abcd');
    const issue = 'issue: the order does not contain q, which was bought';
    expect(summarize(planDelivery({ ...sale, adopted: true }, false))).toBe(issue);
  });

  it("checks the items of a stopped purchase's order, because its request may never have had a response", () => {
    const sale = saleOf(undefined, { ...orderOf('PENDING', ''), lines: [line('r', '')] }, ['']);
    expect(summarize(planDelivery(sale, true))).toContain('issue: the order does not contain p');
    expect(summarize(planDelivery({ ...sale, order: undefined }, true))).toBe(
      'nothing: the partner shows no order for this purchase',
    );
  });
});

it('a key event carries all keys of the order, and is sent unasked only if the checkout has not confirmed one of them', () => {
  const keys = fc.constantFrom('', 'a', 'ab', 'bcd', 'abcd');
  const sales = fc.record({
    outcome: fc.option(fc.constantFrom(...PURCHASE_OUTCOMES), { nil: undefined }),
    status: fc.constantFrom('COMPLETED', 'PARTIAL_COMPLETED', 'REFUNDED', 'FAILED', 'PROCESSING', 'UNRECOGNISED'),
    present: keys,
    named: keys,
    confirmed: keys,
  });
  fc.assert(
    fc.property(sales, fc.boolean(), ({ outcome, status, present, named, confirmed }, again) => {
      const plan = planDelivery(saleOf(outcome, orderOf(status, present), [named, confirmed]), again);
      const sent = plan.kind === 'send' ? plan.event : undefined;
      const isOpen = [undefined, 'DELIVERED', 'PARTIALLY_DELIVERED', 'OVERDUE'].includes(outcome);
      const deliverable = isOpen && status.endsWith('COMPLETED') ? present : '';
      const isNew = deliverable.split('').some((key) => !confirmed.includes(key));
      expect(keysIn(sent?.lines ?? [])).toBe(isNew || again ? deliverable : '');
      // An outcome event with other keys would contradict the one already sent, so new keys need their own event type.
      if (deliverable !== '' && sent)
        expect(sent.type === 'purchase.late_delivery').toBe(!outcome || deliverable !== named);
    }),
    { numRuns: 1_000 },
  );
});

describe('the state of the sale once the checkout has received the event', () => {
  it.each<[PurchaseOutcome | undefined, string, string, string, PurchaseOutcome]>([
    ['OVERDUE', 'COMPLETED', 'abcd', '', 'DELIVERED'],
    ['OVERDUE', 'COMPLETED', 'abc', '', 'PARTIALLY_DELIVERED'],
    ['OVERDUE', 'PENDING', '', '', 'OVERDUE'],
    ['OVERDUE', 'REFUNDED', '', '', 'REFUNDED'],
    ['PARTIALLY_DELIVERED', 'COMPLETED', 'abcd', 'ab', 'DELIVERED'],
    ['PARTIALLY_DELIVERED', 'PARTIAL_COMPLETED', 'ab', 'ab', 'PARTIALLY_DELIVERED'],
    ['DELIVERED', 'REFUNDED', '', 'abcd', 'REFUNDED'],
    ['REJECTED', 'PENDING', '', '', 'REJECTED'],
    [undefined, 'COMPLETED', 'abcd', '', 'DELIVERED'],
  ])('ended %s, the order is %s with "%s" after "%s": %s', (outcome, status, keys, named, state) => {
    const plan = planDelivery(saleOf(outcome, orderOf(status, keys), [named]), true);
    expect(plan.kind === 'send' && stateAfter(plan)).toBe(state);
  });
});
