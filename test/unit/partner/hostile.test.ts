import * as fc from 'fast-check';
import { inspect } from 'node:util';
import { isPartnerError, type PartnerClient } from '../../../src/partner/index';
import { type Reply, type ScriptedServer, startServer } from '../../support/http-server';
import { API_KEY, clientOf, envelope, failureOf, historyRow, NEW_ORDER, orderData, productRow } from './fixtures';

const CANARY = 'CANARY-KEY-5e2b9c';

let server: ScriptedServer;
let partner: PartnerClient;

beforeAll(async () => {
  server = await startServer();
  partner = clientOf(server.url, { timeoutMs: 1000, maxBodyBytes: 200_000 });
});

const pages = { page: 1, total: 1, limit: 50 };

/** Each operation, with the data of a valid response. */
const OPERATIONS: [string, call: () => Promise<unknown>, data: unknown][] = [
  ['listProducts', () => partner.listProducts({ query: 'x' }), { hits: 1, products: [productRow('p-1')], pages }],
  ['listOrders', () => partner.listOrders({ search: 'REF-1' }), { hits: 1, orders: [historyRow('o-1')], pages }],
  ['placeOrder', () => partner.placeOrder(NEW_ORDER), { id: 'o-1' }],
  ['getOrder', () => partner.getOrder('o-1'), orderData('o-1')],
];

/** Everything that printing an error can reveal: visible and hidden fields, causes and the stack. */
function everythingIn(thrown: unknown): string {
  const { message, stack } = thrown as Error;
  const shown = inspect(thrown, { showHidden: true, depth: Infinity, maxArrayLength: null, maxStringLength: null });
  return [shown, message, stack, JSON.stringify(thrown)].join('\n');
}

/** The trace id as printed by `inspect` and in JSON. */
const TRACE_ID = /"?traceId"?: ?['"][A-Za-z0-9._:/+=-]{1,128}['"]/g;

/** Expects a response, or a PartnerError that reveals at most the trace id of the body and nothing of the API key. */
async function expectContained(call: () => Promise<unknown>, reply: Reply): Promise<void> {
  server.script(reply);
  const [response, thrown] = await call().then(
    (received) => [received],
    (error: unknown) => [undefined, error],
  );
  if (thrown === undefined) return expect(response).toMatchObject({ data: expect.any(Object) });
  expect(isPartnerError(thrown)).toBe(true);
  const shown = everythingIn(thrown).replaceAll(TRACE_ID, '');
  expect(shown).not.toContain(CANARY);
  expect(shown).not.toContain(API_KEY);
}

describe.each(OPERATIONS)('%s', (_, call, data) => {
  const good = envelope(data);
  const survives = (replies: fc.Arbitrary<Reply>) =>
    fc.assert(
      fc.asyncProperty(replies, (reply) => expectContained(call, reply)),
      { numRuns: 120 },
    );

  it('survives any JSON', async () => {
    const value = fc.jsonValue({ maxDepth: 4 });
    const enveloped = value.map((data) => envelope(data));
    const json = fc.oneof(value, enveloped, mutationOf(good));
    await survives(fc.record({ status: fc.constantFrom(200, 200, 201, 422, 500), json }));
  });

  it('survives any bytes as a body', async () => {
    const text = fc.string().map((some) => Buffer.from(some));
    const bytes = fc.oneof(fc.uint8Array({ maxLength: 200 }), cutOf(good), text);
    await survives(bytes.map((some) => ({ body: Buffer.concat([some, Buffer.from(CANARY)]) })));
  });

  it('survives any bytes on the wire', async () => {
    const heads = ['', 'HTTP/1.1 ', 'HTTP/1.1 200 OK\r\n', 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n'];
    const parts = fc.tuple(fc.constantFrom(...heads), fc.uint8Array({ maxLength: 100 }));
    const raw = parts.map(([head, rest]) => Buffer.concat([Buffer.from(head), rest, Buffer.from(CANARY)]));
    await survives(fc.record({ raw, then: fc.constantFrom('end', 'reset') }));
  });

  it.each([
    ['deep nesting', () => '['.repeat(100_000)],
    ['deep nesting, closed', () => `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`],
    ['a duplicate name', () => `{"success":false,${JSON.stringify(good).slice(1)}`],
    ['__proto__ everywhere', () => JSON.stringify(good).replaceAll('{', '{"__proto__":{"polluted":true},')],
    ['UTF-16', () => Buffer.from(JSON.stringify(good), 'utf16le')],
    ['a lone surrogate', () => JSON.stringify(good).replace('200', '200,"x":"\\ud800"')],
    ['a million bytes', () => JSON.stringify({ ...good, padding: 'x'.repeat(1_000_000) })],
  ])('survives %s', async (_name, body) => {
    await expectContained(call, { body: body() });
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

it('a response with millions of values is not parsed, however few bytes they take', async () => {
  const large = clientOf(server.url, { timeoutMs: 10_000 });
  const order = (values: number) =>
    JSON.stringify(envelope(orderData('o-1'))).slice(0, -1) + `,"x":[0${',0'.repeat(values)}]}`;
  server.script({ body: order(1_900_000) });
  expect(await large.getOrder('o-1')).toMatchObject({ data: { id: 'o-1' } });
  server.script({ body: order(2_100_000) });
  expect(await failureOf(large.getOrder('o-1'))).toMatchObject({ kind: 'unreadable' });
});

describe('a key sent by the partner', () => {
  const leaky = orderData('o-1', { products: [{ id: 'p-1', keys: [{ type: 'text', value: CANARY }] }] });
  const text = JSON.stringify(envelope(leaky));

  it.each([
    ['half a response', { body: text.slice(0, -3) }],
    ['a response with a trailing comma', { body: text.replace('}]', '},]') }],
    ['a response with another shape', { json: envelope({ ...leaky, status: [CANARY], [CANARY]: 1 }) }],
    ['a response to another request', { json: envelope({ ...leaky, id: CANARY }) }],
    ['an error', { status: 500, json: envelope(leaky) }],
    ['a refusal', { json: envelope(leaky, { success: false, message: CANARY }) }],
    ['no HTTP', { raw: `HTTP/1.1 200 OK\r\n${CANARY} ${CANARY}\r\n\r\n${text}` }],
    ['a made-up status line', { raw: `HTTP/1.1 500 ${CANARY}\r\nretry-after: ${CANARY}\r\n\r\n` }],
    ['a redirect', { status: 302, headers: { location: `/${CANARY}` } }],
    ['a broken chunk', { raw: `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${CANARY}\r\n` }],
  ] satisfies [string, Reply][])(
    'does not appear in the error for %s, and neither does the API key',
    async (_, reply) => {
      server.script(reply);
      const shown = everythingIn(await failureOf(partner.getOrder('o-1')));
      expect(shown).not.toContain(CANARY);
      expect(shown).not.toContain(API_KEY);
    },
  );
});

/** A valid response with one value replaced, anywhere in it. */
function mutationOf(good: unknown): fc.Arbitrary<unknown> {
  const places = placesIn(good);
  const other = fc.oneof(
    fc.jsonValue({ maxDepth: 1 }),
    fc.constantFrom<unknown>(CANARY, null, [], {}, -1, 1e300, 2 ** 53, '..', `\u0000${CANARY}`),
  );
  return fc.tuple(fc.constantFrom(...places), other).map(([place, value]) => replaced(good, place, value));
}

function placesIn(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([name, inner]) => placesIn(inner, [...path, name]))];
}

function replaced(value: unknown, [name, ...rest]: string[], by: unknown): unknown {
  if (name === undefined) return by;
  const copy = structuredClone(value) as Record<string, unknown>;
  copy[name] = replaced(copy[name], rest, by);
  return copy;
}

function cutOf(good: unknown): fc.Arbitrary<Buffer> {
  const text = JSON.stringify(good);
  return fc.nat(text.length).map((length) => Buffer.from(text.slice(0, length)));
}
