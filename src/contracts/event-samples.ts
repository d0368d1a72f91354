import { DOUBLE_PURCHASE_ADVICE, explainDoublePurchase } from '../domain/double-purchase';
import type { PurchaseOutcome } from '../domain/purchase-state';
import type { OutcomeData, KnownEvent } from './public-types';

/*
 * A sample of each event, for the documentation and docs/schemas/events.openapi.json.
 */

type BodyOf<E> = E extends unknown ? Omit<E, 'id'> : never;

const timestamp = '2026-03-01T09:30:12.345Z';
const sale = { referenceId: 'SAMPLE-1', orderId: 'ord-4711' };
const ordered = { productId: 'gift-card-50', quantity: 2 };
const line = { ...ordered, title: 'Gift card 50' };
const keys = [
  { id: 'u9x2Lt.T7vV2WEgBV0azAZg', type: 'text', value: 'AAAA-BBBB-CCCC' },
  { id: 'u9x2Lt.Rw81bVZc5sXeQ2aB', type: 'text', value: 'DDDD-EEEE-FFFF' },
];

/** One sample for each type, and for each form of `purchase.refunded`. */
export const EVENT_SAMPLES: readonly BodyOf<KnownEvent>[] = [
  {
    type: 'purchase.delivered',
    timestamp,
    data: { ...sale, outcome: 'DELIVERED', lines: [{ ...line, keys }], totalDebit: 98.4 },
  },
  {
    type: 'purchase.partially_delivered',
    timestamp,
    data: { ...sale, outcome: 'PARTIALLY_DELIVERED', lines: [{ ...line, keys: keys.slice(0, 1) }], totalDebit: 49.2 },
  },
  {
    type: 'purchase.refunded',
    timestamp,
    data: { ...ended('REFUNDED', 'the partner says REFUNDED'), totalDebit: 98.4 },
  },
  {
    type: 'purchase.refunded',
    timestamp,
    data: { ...sale, totalDebit: 98.4, reason: 'the partner refunded the order after the purchase had ended' },
  },
  { type: 'purchase.failed', timestamp, data: ended('FAILED', 'the partner says FAILED') },
  {
    type: 'purchase.rejected',
    timestamp,
    data: { referenceId: 'SAMPLE-1', outcome: 'REJECTED', lines: [ordered], reason: 'the partner returned 422' },
  },
  {
    type: 'purchase.not_placed',
    timestamp,
    data: { referenceId: 'SAMPLE-1', outcome: 'NOT_PLACED', lines: [ordered], reason: 'the partner returned 503' },
  },
  { type: 'purchase.overdue', timestamp, data: ended('OVERDUE', 'still PENDING at the deadline') },
  {
    type: 'purchase.cancelled',
    timestamp,
    data: {
      referenceId: 'SAMPLE-1',
      outcome: 'CANCELLED',
      lines: [ordered],
      reason: 'cancelled before anything was bought',
    },
  },
  {
    type: 'purchase.abandoned',
    timestamp,
    data: ended('ABANDONED', 'abandoned by an operator; order ord-4711 also belongs to SALE-7'),
  },
  { type: 'purchase.late_delivery', timestamp, data: { ...sale, lines: [{ ...line, keys }], totalDebit: 98.4 } },
  {
    type: 'purchase.held',
    timestamp,
    data: {
      referenceId: 'SAMPLE-1',
      reason: 'PLACEMENT_UNKNOWN',
      decisions: ['order', 'replace', 'abandon'],
      explanation: 'no complete response before the deadline, and the order history shows no order',
    },
  },
  {
    type: 'purchase.attention',
    timestamp,
    data: {
      ...sale,
      kind: 'DOUBLE_PURCHASE',
      details: {
        orderIds: ['ord-4711', 'ord-4712'],
        explanation: explainDoublePurchase(1),
        advice: DOUBLE_PURCHASE_ADVICE,
      },
    },
  },
  {
    type: 'reconciliation.completed',
    timestamp,
    data: {
      referenceId: 'nightly-reconciliation-2026-03-01T03:00:00Z',
      kind: 'RECONCILIATION',
      details: {
        from: '2026-02-26T03:00:00.000Z',
        to: '2026-03-01T03:00:00.000Z',
        orders: 1204,
        repaired: 2,
        report: 'reports/reconciliation-2026-03-01T03-00-00Z.html',
        LATE: 2,
      },
    },
  },
  { type: 'doctor.test', timestamp, data: { referenceId: 'doctor.test' } },
];

function ended<O extends PurchaseOutcome>(outcome: O, reason: string): OutcomeData<O> {
  return { ...sale, outcome, lines: [ordered], reason };
}
