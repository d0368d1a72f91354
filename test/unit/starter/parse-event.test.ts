import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { EVENT_SAMPLES } from '../../../src/contracts/event-samples';
import { InvalidArgumentError } from '../../../src/starter/errors';
import { InvalidEventError, parseEvent, signEvent } from '../../../src/starter/parse-event';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const [NEW, OLD] = [secretOf('new'), secretOf('old')];
const EVENT = {
  type: 'purchase.delivered',
  timestamp: '2026-03-01T12:00:00Z',
  data: { referenceId: 'SALE-1', lines: [] },
};
const BODY = JSON.stringify(EVENT);

function secretOf(seed: string): string {
  return `whsec_${createHmac('sha256', seed).digest('base64')}`;
}

/** The headers of a request, signed with the Standard Webhooks library. */
function signed(body: string, { secrets = [NEW], at = NOW, id = 'evt_1' } = {}): Record<string, string> {
  const signatures = secrets.map((secret) => new Webhook(secret).sign(id, new Date(at), body));
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at / 1_000)),
    'webhook-signature': signatures.join(' '),
  };
}

const parsed = (body: string, headers = signed(body)) => parseEvent(body, headers, NEW, { now: NOW });

function reasonOf(parse: () => unknown): unknown[] {
  try {
    return ['no error', parse()];
  } catch (error) {
    if (!(error instanceof InvalidEventError)) throw error;
    return [error.reason, error.statusCode];
  }
}

describe('parseEvent', () => {
  it.each(EVENT_SAMPLES)('returns an event with its id: $type', (sample) => {
    expect(parsed(JSON.stringify(sample))).toEqual({ ...sample, id: 'evt_1' });
  });

  it('accepts bytes or text, and the headers of Node or of fetch', () => {
    const headers = signed(BODY);
    const distinct = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
    for (const body of [BODY, Buffer.from(BODY), new TextEncoder().encode(BODY)]) {
      for (const form of [headers, distinct, new Headers(headers), { ...headers, Host: 'shop', accept: ['*/*'] }]) {
        expect(parseEvent(body, form, NEW, { now: NOW })).toMatchObject(EVENT);
      }
    }
    const shouted = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));
    expect(parseEvent(BODY, shouted, NEW, { now: NOW })).toMatchObject(EVENT);
  });

  it.each([
    ['both sides know both', [NEW, OLD], [NEW, OLD]],
    ['only the worker knows the new one', [NEW, OLD], [OLD]],
    ['only the receiver knows the new one', [OLD], [NEW, OLD]],
    ['the receiver has both in one text', [OLD], `${NEW} ${OLD}\n`],
  ])('accepts several secrets during a rotation: %s', (_, secrets, known) => {
    expect(parseEvent(BODY, signed(BODY, { secrets }), known, { now: NOW })).toMatchObject(EVENT);
  });

  it('accepts unknown types, fields and values from later versions', () => {
    const later = { ...EVENT, type: 'purchase.gifted', more: 1, data: { ...EVENT.data, wrapping: 'red' } };
    expect(parsed(JSON.stringify(later))).toMatchObject(later);
    const held = { ...EVENT, type: 'purchase.held', data: { referenceId: 'SALE-1', reason: 'A_NEW_REASON' } };
    expect(parsed(JSON.stringify(held))).toMatchObject(held);
  });

  it.each([
    ['another secret', () => parsed(BODY, signed(BODY, { secrets: [OLD] }))],
    ['another body', () => parsed(`${BODY} `, signed(BODY))],
    ['another id', () => parsed(BODY, { ...signed(BODY), 'webhook-id': 'evt_2' })],
    ['another time', () => parsed(BODY, { ...signed(BODY), 'webhook-timestamp': String(NOW / 1_000 + 1) })],
    ['no signature', () => parsed(BODY, { ...signed(BODY), 'webhook-signature': '' })],
    ['an asymmetric signature', () => parsed(BODY, { ...signed(BODY), 'webhook-signature': 'v1a,AAAA' })],
    ['none of the headers', () => parsed(BODY, {})],
  ])('rejects a request with %s as 401', (_, parse) => {
    expect(reasonOf(parse)).toEqual(['SIGNATURE', 401]);
  });

  it('rejects a request signed more than five minutes in the past or future as 401', () => {
    const at = (ms: number) => reasonOf(() => parsed(BODY, signed(BODY, { at: NOW + ms })).type);
    expect([at(-301_000), at(301_000)]).toEqual(Array(2).fill(['TIMESTAMP', 401]));
    expect([at(-300_000), at(300_000)]).toEqual(Array(2).fill(['no error', EVENT.type]));
  });

  it.each([
    ['not JSON', 'x'],
    ['nothing', ''],
    ['not an event', '{"type":"purchase.delivered"}'],
    [
      'an event with a key without a value',
      JSON.stringify({
        ...EVENT,
        data: { referenceId: 'S', lines: [{ productId: 'p', quantity: 1, keys: [{ id: 'k' }] }] },
      }),
    ],
  ])('rejects a signed body that is %s as 400', (_, body) => {
    expect(reasonOf(() => parsed(body))).toEqual(['BODY', 400]);
  });

  it('says so if a signed body is not JSON', () => {
    for (const body of ['', 'x', '{"type":']) expect(() => parsed(body)).toThrow(/but the body is not JSON/);
    expect(() => parsed('7')).toThrow(/but the body is not an event/);
  });

  it('rejects a request without a body from a stranger as 401, without advice for the receiver', () => {
    expect(reasonOf(() => parsed(undefined as unknown as string, {}))).toEqual(['SIGNATURE', 401]);
  });

  it('quotes neither keys nor secrets in its messages', () => {
    const secretKey = JSON.stringify({ ...EVENT, data: { referenceId: 'S', lines: 'AAAA-BBBB' } });
    for (const parse of [() => parsed(secretKey), () => parseEvent(secretKey, signed(secretKey), OLD, { now: NOW })]) {
      expect(parse).toThrow(InvalidEventError);
      expect(parse).not.toThrow(/AAAA|whsec/);
    }
  });

  it.each([
    ['a parsed body', EVENT as unknown as string, NEW, /express\.raw\(\)[^]*before app\.use\(express\.json\(\)\)/],
    ['no secret', BODY, undefined as unknown as string, /DELIVERY_SECRET/],
    ['an empty secret', BODY, '', /DELIVERY_SECRET/],
    ['a malformed secret', BODY, 'secret', /DELIVERY_SECRET/],
  ])('explains the mistake of a receiver that passes %s', (_, body, secret, message) => {
    const parse = () => parseEvent(body, signed(BODY), secret, { now: NOW });
    expect(parse).toThrow(InvalidArgumentError);
    expect(parse).toThrow(message);
  });

  it('explains the mistake of a receiver that passes no headers', () => {
    expect(() => parseEvent(BODY, undefined as unknown as {}, NEW)).toThrow(/such as request\.headers/);
  });
});

describe('signEvent', () => {
  const [sample] = EVENT_SAMPLES as [(typeof EVENT_SAMPLES)[0]];

  it.each(EVENT_SAMPLES)(
    'signs a sample so that parseEvent and the Standard Webhooks library accept it: $type',
    (event) => {
      const { headers, body } = signEvent({ ...event, id: 'evt_2' }, `${NEW} ${OLD}`, { now: NOW });
      expect(parseEvent(body, headers, NEW, { now: NOW })).toMatchObject({
        type: event.type,
        data: event.data,
        id: 'evt_2',
      });
      expect(headers).toMatchObject(signed(body, { id: 'evt_2', secrets: [NEW] }));
    },
  );

  it('gives each event its own id, and the time of the call', () => {
    const ids = [1, 2].map(() => signEvent(sample, NEW).headers['webhook-id']);
    expect(new Set(ids).size).toBe(2);
    const { headers, body } = signEvent(sample, NEW);
    expect(parseEvent(body, headers, NEW).type).toBe(sample.type);
  });

  it('rejects a malformed secret', () => {
    expect(() => signEvent(sample, 'secret')).toThrow(/DELIVERY_SECRET/);
  });
});
