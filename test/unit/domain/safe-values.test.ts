import { safeTraceId, safeErrorCode, safeIdsOf } from '../../../src/domain/safe-values';

const UUID = '3f2b8a50-0c1d-4e2f-9a3b-5c6d7e8f9a0b';

describe('logs and traces', () => {
  it.each([UUID, UUID.replaceAll('-', ''), UUID.toUpperCase()])(
    'name a trace id that cannot be anything else: %s',
    (traceId) => {
      expect(safeTraceId(traceId)).toBe(traceId);
    },
  );

  it.each(['ABCDE-23456-FGHJK', '4111111111111111', '', `${UUID} `, undefined])(
    'do not name a trace id that could be a key, because a partner may put a key anywhere: %s',
    (traceId) => expect(safeTraceId(traceId)).toBeUndefined(),
  );

  it('name a reference and an order id only if they are well-formed, whatever a workflow was started with', () => {
    const subject = { referenceId: 'SALE-1', orderId: 'o-1' };
    expect(safeIdsOf({ ...subject, key: 'x' })).toEqual(subject);
    for (const odd of [undefined, null, 'SALE-1', [], { referenceId: 'a b', orderId: '../o' }, { referenceId: 7 }]) {
      expect(safeIdsOf(odd)).toEqual({});
    }
  });

  it('name error codes of Node and undici, and no other codes', () => {
    const codes = ['ECONNRESET', 'UND_ERR_SOCKET', 7, 'a key', 'A'.repeat(62)];
    const shown = codes.map((code) => safeErrorCode(Object.assign(new Error('x'), { code })));
    expect(shown).toEqual(['ECONNRESET', 'UND_ERR_SOCKET', undefined, undefined, undefined]);
    expect([undefined, null, 'ECONNRESET', new Error('x')].flatMap((other) => safeErrorCode(other) ?? [])).toEqual([]);
  });
});
