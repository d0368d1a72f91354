import fc from 'fast-check';
import { eventId } from '../../../src/delivery/index';

const text = fc.string({ unit: 'binary', maxLength: 6 });
const optionalText = fc.option(text, { nil: undefined });
const identity = fc.record({
  type: text,
  referenceId: text,
  orderId: optionalText,
  subject: optionalText,
  keyIds: fc.array(text, { maxLength: 4 }),
});

const DELIVERED = { type: 'purchase.delivered', referenceId: 'REF-1', keyIds: ['k.b', 'k.a'] };

describe('the id of an event', () => {
  it('is another one as soon as anything but the order of its keys differs: an id is never used for another event', () => {
    const meaning = (event: typeof DELIVERED) => JSON.stringify({ ...event, keyIds: event.keyIds.toSorted() });
    fc.assert(
      fc.property(identity, identity, (one, other) => {
        expect(eventId(one) === eventId(other)).toBe(meaning(one) === meaning(other));
        expect(eventId({ ...one, keyIds: one.keyIds.toReversed() })).toBe(eventId(one));
      }),
      { numRuns: 500 },
    );
  });

  it.each<[string, object, object?]>([
    ['the type', { type: 'purchase.late_delivery' }],
    ['the reference', { referenceId: 'REF-2' }],
    ['an order', { orderId: 'x' }],
    ['a subject', { subject: 'x' }],
    ['a key more', { keyIds: ['k.a', 'k.b', 'k.c'] }],
    ['a key less', { keyIds: ['k.a'] }],
    ['an identical key more', { keyIds: ['k.a', 'k.b', 'k.a#2'] }],
    ['keys that are cut elsewhere', { keyIds: ['k.ak.b', ''] }],
    ['whether a text is the order or the subject', { orderId: 'x' }, { subject: 'x' }],
  ])('depends on %s', (_, change, other = {}) => {
    expect(eventId({ ...DELIVERED, ...change })).not.toBe(eventId({ ...DELIVERED, ...other }));
  });

  it('can be a header and a file name, and stays what it is over versions: an attempt after an update must not be a new event', () => {
    expect(eventId({ ...DELIVERED, orderId: 'o-1', subject: '1' })).toBe('evt_8NNuSUf4ytfEi8x2HIXzbyWABJc');
  });
});
