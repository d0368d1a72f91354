import fc from 'fast-check';
import { eventId } from '../../../src/contracts/event-id';

const text = fc.string({ unit: 'binary', maxLength: 6 });
const optionalText = fc.option(text, { nil: undefined });
const identity = fc.record({
  type: text,
  referenceId: text,
  orderId: optionalText,
  deduplicationKey: optionalText,
  fingerprints: fc.array(text, { maxLength: 4 }),
});

const HELD = { type: 'purchase.held', referenceId: 'REF-1', fingerprints: ['b', 'a'] };

describe('the id of an event', () => {
  it('is the same whatever the order of its fingerprints, because partners list keys as they like', () => {
    fc.assert(
      fc.property(identity, (event) => {
        expect(eventId({ ...event, fingerprints: event.fingerprints.toReversed() })).toBe(eventId(event));
      }),
    );
  });

  it('is another one as soon as anything differs: an id is never used for another event', () => {
    const meaning = (event: typeof HELD) => JSON.stringify({ ...event, fingerprints: event.fingerprints.toSorted() });
    fc.assert(
      fc.property(identity, identity, (one, other) => {
        expect(eventId(one) === eventId(other)).toBe(meaning(one) === meaning(other));
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['the type', { type: 'purchase.delivered' }],
    ['the reference', { referenceId: 'REF-2' }],
    ['an order', { orderId: 'o-1' }],
    ['a deduplication key', { deduplicationKey: '1' }],
    ['a key more', { fingerprints: ['a', 'b', 'c'] }],
    ['a key less', { fingerprints: ['a'] }],
    ['the same key twice', { fingerprints: ['a', 'a', 'b'] }],
    ['two keys that are cut elsewhere', { fingerprints: ['ab', ''] }],
  ])('depends on %s', (_, change) => {
    expect(eventId({ ...HELD, ...change })).not.toBe(eventId(HELD));
  });

  it('tells an order from a deduplication key of the same name', () => {
    expect(eventId({ ...HELD, orderId: 'x' })).not.toBe(eventId({ ...HELD, deduplicationKey: 'x' }));
  });

  it('can be a header, a file name and part of a workflow id', () => {
    expect(eventId(HELD)).toMatch(/^evt_[A-Za-z0-9_-]{22,}$/);
  });

  it('stays what it is over versions: an attempt after an update must not be a new event', () => {
    expect(eventId({ ...HELD, orderId: 'o-1', deduplicationKey: '1' })).toBe('evt_mzjeGuHJP1rM2OJ0xjyNM7dhOk8');
  });
});
