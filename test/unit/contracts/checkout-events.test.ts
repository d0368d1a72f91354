import { fingerprintsOf, isDeliveryReceipt, lateDelivery } from '../../../src/contracts/checkout-events';

const late = {
  at: '2026-01-01T00:00:00.000Z',
  referenceId: 'REF-1',
  orderId: 'o-1',
  lines: [
    { productId: 'a', quantity: 2, fingerprints: ['s.1', 's.2'] },
    { productId: 'b', quantity: 1, fingerprints: ['s.3'] },
  ],
};

describe('the event of keys that came late', () => {
  it('names its order and exactly the keys that it hands over', () => {
    const event = lateDelivery({ ...late, totalDebit: 12.34 });
    expect(event).toEqual({ type: 'purchase.late_delivery', ...late, totalDebit: 12.34 });
    expect(fingerprintsOf(event)).toEqual(['s.1', 's.2', 's.3']);
  });

  it('is the same JSON whether an amount is unknown or absent, because its bytes are signed', () => {
    expect(JSON.stringify(lateDelivery(late))).toBe(JSON.stringify(lateDelivery({ ...late, totalDebit: undefined })));
  });

  it('takes nothing over that does not belong to it: another field would be another event for the checkout', () => {
    const order = { ...late, status: 'COMPLETED', earlier: [] };
    expect(Object.keys(lateDelivery(order)).toSorted()).toEqual(
      ['at', 'lines', 'orderId', 'outcome', 'referenceId', 'totalDebit', 'type'].toSorted(),
    );
  });
});

test('an event without lines hands over nothing', () => {
  const held = {
    type: 'purchase.held' as const,
    at: late.at,
    referenceId: 'REF-1',
    hold: 'KEY_GONE' as const,
    decisions: [],
    reason: 'a key is gone',
    deduplicationKey: 'h-1',
  };
  expect(fingerprintsOf(held)).toEqual([]);
});

test('only the id of an event is a receipt', () => {
  expect(isDeliveryReceipt({ eventId: 'evt_1' })).toBe(true);
  for (const junk of [{ eventId: 'done' }, { eventId: 7 }, {}, 'evt_1', null, undefined]) {
    expect(isDeliveryReceipt(junk)).toBe(false);
  }
});
