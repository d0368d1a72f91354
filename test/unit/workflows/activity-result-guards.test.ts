import { isOrderSearchResult, isOrderSnapshot, isPlacementResult } from '../../../src/workflows/activity-result-guards';

// An operator can complete a pending activity with anything. What passes here is believed.

const found = { id: 'o-1', status: 'PENDING', createdAt: '2026-01-01T00:00:00Z' };

describe('a placement result', () => {
  it.each([
    { evidence: 'PLACED', orderId: 'o-1' },
    { evidence: 'FOUND', orders: [found], why: 'it is there already' },
    { evidence: 'NOT_SENT', why: 'connection refused', retryAfterMs: 1_000 },
    { evidence: 'NOT_SENT', why: 'no slot', turnInMs: 600_000 },
    { evidence: 'ANSWERED', why: '503', retryAfterMs: 3_600_000 },
    { evidence: 'CONFLICT', why: '409' },
    { evidence: 'UNKNOWN', why: 'no answer', inFlight: true },
  ])('is accepted with what its evidence needs: %p', (value) => {
    expect(isPlacementResult(value)).toBe(true);
  });

  it.each([
    { evidence: 'PLACED' },
    { evidence: 'PLACED', orderId: '../keys' },
    { evidence: 'FOUND', why: 'it is there already' },
    { evidence: 'FOUND', orders: ['o-1'], why: 'it is there already' },
    { evidence: 'NOT_SENT' },
    { evidence: 'NOT_SENT', why: 'soon', retryAfterMs: 'soon' },
    { evidence: 'ANSWERED', why: 'soon', retryAfterMs: 3_600_001 },
    { evidence: 'ANSWERED', why: 'soon', retryAfterMs: -1 },
    { evidence: 'NOT_SENT', why: 'soon', turnInMs: 1e13 },
    { evidence: 'SURELY', why: 'an operator said so' },
    'PLACED',
    undefined,
    null,
  ])('is not accepted without it, because it would be taken for evidence, or waited for without end: %p', (value) => {
    expect(isPlacementResult(value)).toBe(false);
  });
});

test('a search result says which run searched, or a reset could open a fence with it', () => {
  const result = { runId: 'run', orders: [found], readable: true, why: 'searched' };
  expect(isOrderSearchResult(result)).toBe(true);
  expect(isOrderSearchResult({ ...result, runId: undefined })).toBe(false);
  expect(isOrderSearchResult({ ...result, orders: [{ ...found, id: 'a/b' }] })).toBe(false);
});

test('a snapshot is of the order that was asked for and of no other', () => {
  const snapshot = { orderId: 'o-1', status: 'COMPLETED', lines: [{ productId: 'p', fingerprints: ['s.1'] }] };
  expect(isOrderSnapshot('o-1', snapshot)).toBe(true);
  expect(isOrderSnapshot('o-2', snapshot)).toBe(false);
  expect(isOrderSnapshot('o-1', { ...snapshot, lines: [{ productId: 'p', fingerprints: [7] }] })).toBe(false);
});
