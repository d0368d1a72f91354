import fc from 'fast-check';
import { eventId } from '../../../src/delivery/index';

/** Mostly from a small set, so that two identities are often equal or nearly equal. */
const text = fc.oneof(fc.constantFrom('', 'a', 'b', 'ab', 'a#2'), fc.string({ unit: 'binary', maxLength: 6 }));
const optionalText = fc.option(text, { nil: undefined });
const keyIds = fc.array(text, { maxLength: 3 });
const identity = fc.record({ type: text, referenceId: text, orderId: optionalText, subject: optionalText, keyIds });
/** Two arbitrary identities, or two that differ in at most one field. */
const pairs = fc.oneof(
  fc.tuple(identity, identity),
  fc.tuple(identity, fc.record({ type: text })),
  fc.tuple(identity, fc.record({ referenceId: text })),
  fc.tuple(identity, fc.record({ orderId: optionalText, subject: optionalText })),
  fc.tuple(identity, fc.record({ keyIds })),
);

describe('the id of an event', () => {
  it('changes if anything but the order of its keys changes, so that it is never reused for another event', () => {
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

  it('is valid as a header and a file name and never changes between releases: a retry after an update is not a new event', () => {
    const delivered = { type: 'purchase.delivered', referenceId: 'REF-1', keyIds: ['k.b', 'k.a'] };
    expect(eventId({ ...delivered, orderId: 'o-1', subject: '1' })).toBe('evt_8NNuSUf4ytfEi8x2HIXzbyWABJc');
  });
});
