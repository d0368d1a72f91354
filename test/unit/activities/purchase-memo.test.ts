import { readAccepted } from '../../../src/activities/reconcile/purchase-memo';

const fingerprints = { c: ['f-1'] };
const handedOver = [{ productId: 'c', keys: 1 }];

it.each([
  ['as it is written', [{ productId: 'c', quantity: 3, keys: 1 }], [{ productId: 'c', quantity: 3, keys: 1 }]],
  ['of an older memo as what was handed over, and not as anything that will ever come', true, handedOver],
  ['of another shape as nothing, so that a person must look', [{ productId: 'c' }], undefined],
  ['that were never accepted as nothing', undefined, undefined],
])('accepted items are read %s', (_, items, expected) => {
  expect(readAccepted({ accepted: { orderId: 'O-1', items }, fingerprints })).toEqual({
    orderId: 'O-1',
    items: expected,
    owner: false,
    surplus: 0,
  });
});

it('an older memo of a purchase that was terminated before it had handed anything over accepts nothing', () => {
  expect(readAccepted({ accepted: { orderId: 'O-1', items: true } })?.items).toEqual([]);
});
