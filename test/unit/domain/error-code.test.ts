import { safeErrorCode } from '../../../src/domain/presentable';

describe('the code of an error', () => {
  it('is shown where it is one of Node or undici', () => {
    expect(safeErrorCode(Object.assign(new Error('x'), { code: 'ECONNRESET' }))).toBe('ECONNRESET');
    expect(safeErrorCode(Object.assign(new Error('x'), { code: 'UND_ERR_SOCKET' }))).toBe('UND_ERR_SOCKET');
  });

  it.each([undefined, null, 'ECONNRESET', new Error('x'), { code: 7 }, { code: 'a key' }, { code: 'A'.repeat(62) }])(
    'is not shown where it could be anything: %j',
    (error) => {
      expect(safeErrorCode(error)).toBeUndefined();
    },
  );
});
