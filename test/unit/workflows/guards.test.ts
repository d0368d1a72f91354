import {
  isEndedPurchase,
  isOrderSearchResult,
  isPlacementResult,
  isPolledOrder,
  isSaleDeliveryAttemptResult,
} from '../../../src/workflows/guards';

// An operator can complete a pending activity with any result. The workflow trusts what passes these guards.

const found = { id: 'o-1', status: 'PENDING', createdAt: '2026-01-01T00:00:00Z' };

describe('a placement result', () => {
  it.each([
    { evidence: 'PLACED', orderId: 'o-1' },
    { evidence: 'FOUND', orders: [found], reason: 'it is there already' },
    { evidence: 'NOT_SENT', reason: 'connection refused', retryAfterMs: 1_000 },
    { evidence: 'NOT_SENT', reason: 'no permit', permitInMs: 600_000 },
    { evidence: 'ERROR_RESPONSE', reason: '503', retryAfterMs: 3_600_000 },
    { evidence: 'CONFLICT', reason: '409' },
    { evidence: 'UNKNOWN', reason: 'no response', inFlight: true },
  ])('is accepted if it has everything that its evidence needs: %p', (value) => {
    expect(isPlacementResult(value)).toBe(true);
  });

  it.each([
    { evidence: 'PLACED' },
    { evidence: 'PLACED', orderId: '../keys' },
    { evidence: 'FOUND', reason: 'it is there already' },
    { evidence: 'FOUND', orders: ['o-1'], reason: 'it is there already' },
    { evidence: 'NOT_SENT' },
    { evidence: 'NOT_SENT', reason: 'soon', retryAfterMs: 'soon' },
    { evidence: 'ERROR_RESPONSE', reason: 'soon', retryAfterMs: 3_600_001 },
    { evidence: 'ERROR_RESPONSE', reason: 'soon', retryAfterMs: -1 },
    { evidence: 'NOT_SENT', reason: 'soon', permitInMs: 1e13 },
    { evidence: 'CERTAIN', reason: 'an operator said so' },
    'PLACED',
    undefined,
    null,
  ])('is rejected otherwise, because it could count as evidence or make the workflow wait forever: %p', (value) => {
    expect(isPlacementResult(value)).toBe(false);
  });
});

test('a search result lists orders and says whether the history proves absence', () => {
  const result = { orders: [found], provesAbsence: true, reason: 'searched' };
  expect(isOrderSearchResult(result)).toBe(true);
  expect(isOrderSearchResult({ ...result, provesAbsence: undefined })).toBe(false);
  expect(isOrderSearchResult({ ...result, orders: [{ ...found, id: 'a/b' }] })).toBe(false);
});

test('a poll result is accepted only for the requested order', () => {
  const polled = { orderId: 'o-1', status: 'COMPLETED', lines: [{ productId: 'p', keyIds: ['s.1'] }] };
  expect(isPolledOrder('o-1', { ...polled, receivedKeyIds: { p: ['s.1'] } })).toBe(true);
  expect(isPolledOrder('o-2', polled)).toBe(false);
  expect(isPolledOrder('o-1', { ...polled, lines: [{ productId: 'p', keyIds: [7] }] })).toBe(false);
  expect(isPolledOrder('o-1', { ...polled, receivedKeyIds: { p: 's.1' } })).toBe(false);
});

test('a sale is accepted only for the requested purchase, and only with complete data on its confirmed keys', () => {
  const items = [{ productId: 'p', quantity: 1 }];
  const sale = { referenceId: 'R', items, outcomeKeyIds: {}, receivedKeyIds: {}, refundReceived: false };
  expect(isEndedPurchase('R', sale)).toBe(true);
  expect(isEndedPurchase('R-2', sale)).toBe(false);
  expect(isEndedPurchase('R', { ...sale, receivedKeyIds: undefined })).toBe(false);
  expect(isEndedPurchase('R', { ...sale, keylessEvents: [7] })).toBe(false);
});

test('a delivery is RECEIVED only with its event, and CHANGED only if it says whether it may have been sent', () => {
  const event = { id: 'e', type: 'purchase.delivered', at: '2026-01-01T00:00:00Z' };
  const ends = [{ kind: 'RECEIVED', event }, { kind: 'REFUSED' }, { kind: 'CHANGED', eventMayHaveArrived: true }];
  expect(ends.filter(isSaleDeliveryAttemptResult)).toEqual(ends);
  expect(
    [{ kind: 'RECEIVED' }, { kind: 'CHANGED' }, { kind: 'LOST' }, undefined].filter(isSaleDeliveryAttemptResult),
  ).toEqual([]);
});
