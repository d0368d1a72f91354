import fc from 'fast-check';
import { createFingerprinter } from '../../../src/delivery/index';

const OLD = 'fake-old-secret-of-32-bytes-or-more';
const NEW = 'fake-new-secret-of-32-bytes-or-more';

const key = fc.record({ type: fc.constantFrom('text', 'image', 'te', ''), value: fc.string({ unit: 'binary' }) });
const by = (...secrets: string[]) => createFingerprinter(() => secrets);

describe('a fingerprint', () => {
  it('is that of its key and of no other, however type and value are cut', () => {
    const prints = by(NEW);
    fc.assert(
      fc.property(key, key, (one, other) => {
        const same = one.type === other.type && one.value === other.value;
        expect(prints.newest(one) === prints.newest(other)).toBe(same);
      }),
    );
    expect(prints.newest({ type: 'te', value: 'xtA' })).not.toBe(prints.newest({ type: 'text', value: 'A' }));
    expect(prints.newest({ type: 'text', value: '\ud800' })).not.toBe(prints.newest({ type: 'text', value: '\ud801' }));
  });

  it('has one form, from which neither the key nor the secret can be told without the secret', () => {
    const print = by(NEW).newest({ type: 'text', value: 'AAAA-BBBB' });
    expect(print).toMatch(/^[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{16}$/);
    expect(by(OLD).newest({ type: 'text', value: 'AAAA-BBBB' }).slice(7)).not.toBe(print.slice(7));
  });

  it('stays what it is over versions, because running purchases hold those of the version before', () => {
    expect(by(NEW).newest({ type: 'text', value: 'AAAA-BBBB' })).toBe('Y8F0eH.WSzaud4XdFZpF6Xl');
  });
});

describe('after a secret was rotated', () => {
  it('the newest secret makes fingerprints, and an older one is still recognised by its id', () => {
    fc.assert(
      fc.property(key, (any) => {
        const old = by(OLD).newest(any);
        const prints = by(NEW, OLD);
        expect(prints.like(old, any)).toBe(old);
        expect(prints.newest(any)).toBe(by(NEW).newest(any));
        expect(prints.newest(any)).not.toBe(old);
      }),
    );
  });

  it.each(['GONE', 'no-dot', '', '.', 'abcdef.'])('nothing is made for the unknown secret of %j', (model) => {
    const known = model === 'GONE' ? by(OLD).newest({ type: 'text', value: 'A' }) : model;
    expect(by(NEW).like(known, { type: 'text', value: 'A' })).toBeUndefined();
  });

  it('secrets are read at each use, not once', () => {
    let secrets = [OLD];
    const prints = createFingerprinter(() => secrets);
    const before = prints.newest({ type: 'text', value: 'A' });
    secrets = [NEW, OLD];
    expect(prints.newest({ type: 'text', value: 'A' })).not.toBe(before);
  });
});
