import {
  responseKindOf,
  isPartnerError,
  PartnerError,
  type PartnerErrorFacts,
  statusError,
} from '../../../src/partner/errors';

type Kind = PartnerError['kind'];
const READ: PartnerErrorFacts = { operation: 'getOrder' };
const PLACE: PartnerErrorFacts = { operation: 'placeOrder' };

describe('the meaning of an HTTP status', () => {
  it.each<[number[], PartnerError['evidence'], boolean, boolean]>([
    [[400, 413, 415, 422], 'ORDER_REJECTED', false, false],
    [[402], 'ORDER_REJECTED', false, true],
    [[401, 403, 404, 405], 'ACCESS_DENIED', false, true],
    [[409], 'CONFLICT', false, false],
    [[408, 425, 429, 500, 502, 503, 504, 599], 'ERROR_RESPONSE', true, true],
    [[100, 301, 302, 307, 308, 406, 410, 418, 421], 'UNKNOWN', false, true],
  ])('%p: %s; a read is retried: %s; counts against the partner: %s', (statuses, evidence, retryable, counts) => {
    for (const httpStatus of statuses) {
      const error = statusError({ ...PLACE, httpStatus });
      expect(error).toMatchObject({ httpStatus, evidence, retryable, countsAgainstPartner: counts });
    }
  });

  it.each([
    [301, 'status', '3xx'],
    [401, 'access', 'access'],
    [403, 'access', 'access'],
    [404, 'not-found', 'not-found'],
    [422, 'status', '4xx'],
    [429, 'status', '429'],
    [503, 'status', '5xx'],
  ])('%i is an error of kind %s, counted as %s', (httpStatus, kind, counted) => {
    const error = statusError({ ...READ, httpStatus });
    expect([error.kind, responseKindOf(error)]).toEqual([kind, counted]);
  });
});

it('names the error code of a response, which is one of a closed list', () => {
  const { message } = statusError({ ...PLACE, httpStatus: 422, errorCode: 'insufficient_stock' });
  expect(message).toBe('placeOrder: the partner returned 422 (insufficient_stock)');
});

it('names the operation and the code in its message, for the log, but not in the summary that events quote', () => {
  const { message, summary } = new PartnerError('connection-lost', 'it broke', { ...PLACE, code: 'ECONNRESET' });
  expect([message, summary]).toEqual(['placeOrder: it broke (ECONNRESET)', 'it broke']);
});

it.each<[Kind, PartnerErrorFacts, PartnerError['evidence'], boolean, boolean]>([
  ['invalid-argument', PLACE, 'NOT_SENT', false, false],
  ['unreachable', PLACE, 'NOT_SENT', true, true],
  ['too-late', { ...PLACE, permitInMs: 5 }, 'NOT_SENT', false, false],
  ['aborted', PLACE, 'NOT_SENT', false, false],
  ['closed', PLACE, 'NOT_SENT', false, false],
  ['timeout', { ...PLACE, sent: false }, 'NOT_SENT', true, true],
  ['timeout', { ...PLACE, sent: true }, 'UNKNOWN', true, true],
  ['timeout', PLACE, 'UNKNOWN', true, true],
  ['connection-lost', PLACE, 'UNKNOWN', true, true],
  ['unsuccessful', PLACE, 'ERROR_RESPONSE', true, true],
  ['unsuccessful', { ...PLACE, envelopeStatus: 422 }, 'ERROR_RESPONSE', false, false],
  ['unsuccessful', { ...PLACE, envelopeStatus: 409 }, 'ERROR_RESPONSE', false, false],
  ['unsuccessful', { ...PLACE, envelopeStatus: 401 }, 'ERROR_RESPONSE', false, true],
  ['unsuccessful', { ...PLACE, envelopeStatus: 402 }, 'ERROR_RESPONSE', false, true],
  ['unsuccessful', { ...PLACE, envelopeStatus: 403 }, 'ERROR_RESPONSE', false, true],
  ['unsuccessful', { ...PLACE, envelopeStatus: 429 }, 'ERROR_RESPONSE', true, true],
  ['unsuccessful', { ...PLACE, envelopeStatus: 503 }, 'ERROR_RESPONSE', true, true],
  ['unreadable', { ...PLACE, reason: 'shape' }, 'UNKNOWN', false, true],
  ['unreadable', { ...READ, reason: 'shape' }, 'UNKNOWN', false, false],
  ['unreadable', { ...READ, reason: 'not-json' }, 'UNKNOWN', true, false],
  ['unreadable', { ...READ, reason: 'too-large' }, 'UNKNOWN', false, false],
  ['incomplete', READ, 'UNKNOWN', true, false],
])('%s (%j): %s; a read is retried: %s; counts against the partner: %s', (kind, facts, evidence, retryable, counts) => {
  const error = new PartnerError(kind, 'it failed', facts);
  expect(error).toMatchObject({ ...facts, kind, evidence, retryable, countsAgainstPartner: counts });
  expect([responseKindOf(error), error.message]).toEqual([kind, `${facts.operation}: it failed`]);
});

it('recognises only a PartnerError as one', () => {
  const others = [new Error('x'), undefined, null, { kind: 'timeout', evidence: 'NOT_SENT' }];
  expect(others.filter(isPartnerError)).toEqual([]);
});
