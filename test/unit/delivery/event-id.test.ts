import fc from 'fast-check';
import { eventId } from '../../../src/delivery/index';

/** Few texts, so that two identities are often equal or almost. */
const text = fc.oneof(fc.constantFrom('', 'a', 'b', 'ab', 'a#2'), fc.string({ unit: 'binary', maxLength: 6 }));
const optionalText = fc.option(text, { nil: undefined });
const keyIds = fc.array(text, { maxLength: 3 });
const identity = fc.record({ type: text, referenceId: text, orderId: optionalText, subject: optionalText, keyIds });
/** One and the same in all but one field, or any two. */
const pairs = fc.oneof(
  fc.tuple(identity, identity),
  fc.tuple(identity, fc.record({ type: text })),
  fc.tuple(identity, fc.record({ referenceId: text })),
  fc.tuple(identity, fc.record({ orderId: optionalText, subject: optionalText })),
  fc.tuple(identity, fc.record({ keyIds })),
);

describe('the id of an event', () => {
  it('is another one as soon as anything but the order of its keys differs: an id is never used for another event', () => {
    const meaning = (event: { keyIds: string[] }) => JSON.stringify({ ...event, keyIds: event.keyIds.toSorted() });
    fc.assert(
      fc.property(pairs, ([one, change]) => {
        const other = { ...one, ...change };
        expect(eventId(one) === eventId(other)).toBe(meaning(one) === meaning(other));
        expect(eventId({ ...one, keyIds: one.keyIds.toReversed() })).toBe(eventId(one));
      }),
      { numRuns: 2_000 },
    );
  });

  it('can be a header and a file name, and stays what it is over versions: an attempt after an update must not be a new event', () => {
    const delivered = { type: 'purchase.delivered', referenceId: 'REF-1', keyIds: ['k.b', 'k.a'] };
    expect(eventId({ ...delivered, orderId: 'o-1', subject: '1' })).toBe('evt_8NNuSUf4ytfEi8x2HIXzbyWABJc');
  });
});
