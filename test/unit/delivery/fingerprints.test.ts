import fc from 'fast-check';
import { createFingerprinter, secretIdOf } from '../../../src/delivery/index';

const OLD = 'fake-old-secret-of-32-bytes-or-more';
const NEW = 'fake-new-secret-of-32-bytes-or-more';

const key = fc.record({ type: fc.constantFrom('text', 'image', 'te', ''), value: fc.string({ unit: 'binary' }) });
const by = (...secrets: string[]) => createFingerprinter(() => secrets);
/** The id of a single key, made with the newest secret. */
const idOf = (prints: ReturnType<typeof by>, one: { type: string; value: string }) =>
  prints.keyIds([one], prints.newestId())?.[0] ?? '';

describe('the id of a key', () => {
  it('belongs to this value only, whatever the partner calls its type', () => {
    const prints = by(NEW);
    fc.assert(
      fc.property(key, key, (one, other) => {
        expect(idOf(prints, one) === idOf(prints, other)).toBe(one.value === other.value);
      }),
    );
    expect(idOf(prints, { type: 'TEXT', value: 'A' })).toBe(idOf(prints, { type: 'text', value: 'A' }));
    expect(idOf(prints, { type: 'text', value: '\ud800' })).not.toBe(idOf(prints, { type: 'text', value: '\ud801' }));
  });

  it('reveals nothing about the key without the secret, and never changes between releases', () => {
    const one = { type: 'text', value: 'AAAA-BBBB' };
    expect(idOf(by(NEW), one)).toBe('Y8F0eH.pqwQ98ywEOd5uLhP');
    expect(idOf(by(OLD), one).slice(7)).not.toBe('pqwQ98ywEOd5uLhP');
  });

  it('numbers identical keys of a product by position, so that each of them can be stored', () => {
    const prints = by(NEW);
    const values = fc.array(fc.constantFrom('A', 'B', 'C'), { maxLength: 8 });
    fc.assert(
      fc.property(values, (list) => {
        const keys = list.map((value) => ({ type: 'text', value }));
        const ids = prints.keyIds(keys, prints.newestId());
        const expected = list.map((value, index) => {
          const count = list.slice(0, index + 1).filter((one) => one === value).length;
          return `${idOf(prints, { type: 'text', value })}${count > 1 ? `#${count}` : ''}`;
        });
        expect(ids).toEqual(expected);
        expect(new Set(ids).size).toBe(list.length);
      }),
    );
  });
});

describe('after a secret was rotated', () => {
  it('the keys of an older purchase keep their ids, and a newer purchase uses the newest secret', () => {
    fc.assert(
      fc.property(key, (any) => {
        const old = idOf(by(OLD), any);
        const prints = by(NEW, OLD);
        expect(prints.keyIds([any], secretIdOf(old))).toEqual([old]);
        expect(prints.newestId()).toBe(by(NEW).newestId());
        expect(prints.newestId()).not.toBe(secretIdOf(old));
      }),
    );
  });

  it('no key ids are made if the secret is missing, and no other secret replaces it', () => {
    for (const gone of [by(OLD).newestId(), 'no-id', '']) {
      expect(by(NEW).keyIds([{ type: 'text', value: 'A' }], gone)).toBeUndefined();
    }
  });

  it('secrets are read at each use, not only once', () => {
    let secrets = [OLD];
    const prints = createFingerprinter(() => secrets);
    const before = prints.newestId();
    secrets = [NEW, OLD];
    expect(prints.newestId()).not.toBe(before);
  });
});
