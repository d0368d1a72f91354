import { planDelivery } from '../../../../src/domain/plan-delivery';
import { PURCHASE_OUTCOMES } from '../../../../src/domain/purchase-state';
import { findingKey } from '../../../../src/domain/reconciliation/finding';
import { reconcile } from '../../../../src/domain/reconciliation/reconcile';
import { rowsById } from '../../../../src/domain/order';
import { indexRecords } from '../../../../src/domain/reconciliation/records';
import { NIGHT, order, purchase } from './generated-records';

/** The findings for a purchase that ended as `changes` say and whose order now has this status. */
function findingsOf(status: string, changes: object, goneKeyIds?: string[], totalDebit?: number) {
  const shown = order('1', { status, amount: undefined, goneKeyIds, totalDebit });
  return reconcile(indexRecords(rowsById([shown]), [purchase('1', { totalDebit: undefined, ...changes })]), NIGHT);
}

const OVERDUE = { state: 'OVERDUE', delivered: 0, keyIds: {} };
const MAYBE = 'may have reached the checkout';

it.each([
  ['that was overdue', OVERDUE, 'sell again under a new reference'],
  ['that was overdue and whose late delivery failed', { ...OVERDUE, keysMayHaveArrived: true }, MAYBE],
  ['that was stopped', { ...OVERDUE, workflowStatus: 'TERMINATED', state: 'DELIVERING' }, MAYBE],
])(
  'a purchase %s and no longer costs money may be sold again only if nothing can have been delivered',
  (_, ended, advice) => {
    for (const status of ['REFUNDED', 'FAILED']) expect(findingsOf(status, ended)[0]?.advice).toContain(advice);
  },
);

it.each([undefined, ...PURCHASE_OUTCOMES])(
  'late keys (%s) are delivered by both reconciliation and redeliver, or by neither, and are always reported',
  (outcome) => {
    const ended = outcome === undefined ? { workflowStatus: 'TERMINATED', state: 'PENDING' } : { state: outcome };
    const [found] = findingsOf('COMPLETED', { ...ended, delivered: 1, keyIds: { 'card-50': ['k.1'] } });
    const lines = [{ productId: 'card-50', quantity: 2, keyIds: ['k.1', 'k.2'] }];
    const plan = planDelivery(
      {
        ...{ referenceId: 'REF-1', items: [{ productId: 'card-50', quantity: 2 }], outcome, orderId: 'ord-1' },
        ...{ outcomeKeyIds: {}, receivedKeyIds: { 'card-50': ['k.1'] }, refundReceived: false },
        order: { orderId: 'ord-1', status: 'COMPLETED', lines },
      },
      false,
    );
    expect(found).toBeDefined();
    expect(found?.repair === 'deliver').toBe(plan.kind === 'send');
  },
);

it.each([
  ['REFUNDED', 'REFUNDED', 2, 'REFUNDED_AFTER_DELIVERY'],
  ['REFUNDED', 'REFUNDED', 1, 'SHORTFALL_REFUNDED'],
  ['FAILED', 'FAILED', 2, 'STATUS_MISMATCH'],
  ['FAILED', 'FAILED', 1, 'STATUS_MISMATCH'],
])(
  'a purchase that ended %s after a reset, while its order is %s and the checkout has %i of 2 keys: %s',
  (state, status, delivered, kind) => {
    expect(findingsOf(status, { state, delivered })).toMatchObject([{ kind }]);
  },
);

it('an order that shows its keys again after its purchase ended without them is reported, even if an earlier run delivered them', () => {
  for (const state of ['REFUNDED', 'FAILED']) {
    for (const delivered of [0, 1, 2]) {
      const [found] = findingsOf('COMPLETED', { state, delivered });
      expect(found).toMatchObject({ kind: 'STATUS_MISMATCH', repair: 'notify' });
    }
  }
});

it('an order that has keys after the checkout was notified of its refund is reported, and its keys are not delivered', () => {
  for (const state of ['OVERDUE', 'PARTIALLY_DELIVERED', 'DELIVERED']) {
    for (const delivered of [0, 2]) {
      const [found] = findingsOf('COMPLETED', { state, delivered, refundReceived: true });
      expect(found).toMatchObject({ kind: 'STATUS_MISMATCH', repair: 'notify' });
      expect(findingsOf('REFUNDED', { state, delivered, refundReceived: true })[0]?.repair).toBe('notify-refund');
    }
  }
});

it('an order that ended complete with fewer keys and a lower debit is a partial refund', () => {
  const sold = { state: 'PARTIALLY_DELIVERED', ordered: 2, delivered: 1, totalDebit: 20 };
  const repairOf = (totalDebit: number) => findingsOf('COMPLETED', sold, undefined, totalDebit)[0]?.repair;
  expect([20, 15, 10].map(repairOf)).toEqual(['deliver', 'deliver-or-notify', 'deliver-or-notify']);
});

it('another key that vanishes from an order another night is another finding, but the same key is the same one', () => {
  const keyOf = (...goneKeyIds: string[]) => findingsOf('COMPLETED', {}, goneKeyIds).map(findingKey)[0];
  expect(keyOf('k.1')).not.toBe(keyOf('k.2'));
  expect(keyOf('k.1', 'k.2')).toBe(keyOf('k.2', 'k.1'));
});

it('delivered keys that vanish from an order are reported along with other findings while it still has keys, but not otherwise', () => {
  const kindsOf = (status: string, goneKeyIds?: string[]) =>
    findingsOf(status, { state: 'PARTIALLY_DELIVERED', delivered: 1 }, goneKeyIds).map(({ kind }) => kind);
  expect(kindsOf('COMPLETED', ['k.1', 'k.2'])).toEqual(['KEYS_GONE', 'SHORTFALL_FILLED']);
  expect(kindsOf('PARTIAL_COMPLETED', ['k.1'])).toEqual(['SHORTFALL', 'KEYS_GONE']);
  const others = [kindsOf('REFUNDED', ['k.1']), kindsOf('COMPLETED', []), kindsOf('COMPLETED')];
  expect(others.flat()).not.toContain('KEYS_GONE');
  const explanation = 'Delivered keys that are no longer in the order: 2.';
  expect(findingsOf('COMPLETED', {}, ['k.1', 'k.2'])).toMatchObject([
    { repair: 'notify', explanation, keyIds: ['k.1', 'k.2'] },
  ]);
});
