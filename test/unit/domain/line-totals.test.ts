import { fingerprintsByProduct } from '../../../src/domain/line-totals';

describe('the fingerprints by product', () => {
  it('are those of every line of a product, however it is called, and never those of its last line alone', () => {
    const byProduct = fingerprintsByProduct([
      { productId: 'card-50', fingerprints: ['k.1'] },
      { productId: '__proto__', fingerprints: ['k.2'] },
      { productId: 'card-50', fingerprints: ['k.3'] },
      { productId: 'card-20', fingerprints: [] },
    ]);

    expect(Object.entries(byProduct)).toEqual([
      ['card-50', ['k.1', 'k.3']],
      ['__proto__', ['k.2']],
    ]);
  });
});
