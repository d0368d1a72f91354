import { type Reply, startTcpServer } from '../../support/http-server';
import { API_KEY, clientOf, envelope, failedPlacement, failureOf, NEW_ORDER, onceAt, serverWith } from './fixtures';

const whole = JSON.stringify(envelope({ id: 'o-1' }));

describe('a placed order', () => {
  it('returns the order id, the trace id and the time of the request, which has the documented form', async () => {
    const server = await serverWith({ json: envelope({ id: 'o-1' }) });
    const response = await clientOf(`${server.url}/api/`, { orderPrefix: '/v1/partners' }).placeOrder(NEW_ORDER);

    const sentAtMs = expect.any(Number) as number;
    expect(response).toEqual({ data: { id: 'o-1' }, traceId: 'trace-1', sentAtMs });
    const [request] = server.received;
    expect(request).toMatchObject({ method: 'POST', path: '/api/v1/partners/place-order' });
    expect(request!.headers).toMatchObject({ 'x-api-key': API_KEY, 'content-type': 'application/json' });
    expect(request!.body.toString()).toBe('{"items":[{"id":"p-1","quantity":2}],"reference_id":"REF-1"}');
  });

  it('uses its own connection, so that the failure of an earlier request is never attributed to it', async () => {
    const server = await serverWith({ json: envelope({ id: 'o-1' }) });
    const partner = clientOf(server.url);
    await partner.placeOrder(NEW_ORDER);
    await partner.placeOrder(NEW_ORDER);

    expect(server.received.map(({ connection }) => connection)).toEqual([1, 2]);
    expect(server.received[0]!.headers.connection).toBe('close');
  });

  it.each([
    ['201 created', { status: 201, json: envelope({ id: 'o-1' }) }],
    ['no extensions', { json: { status: 200, success: true, details: { data: { id: 'o-1' } } } }],
    ['unusable extensions', { json: { status: 200, success: true, details: { data: { id: 'o-1' }, extensions: 7 } } }],
    ['a byte order mark', { body: `\ufeff${whole}` }],
    ['another charset named in the header', { headers: { 'content-type': 'text/plain; charset=latin1' }, body: whole }],
    ['unknown fields', { json: { ...envelope({ id: 'o-1', more: 1 }), extra: { deep: [] } } }],
    ['hints before the response', { raw: `HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n\r\n${whole}` }],
  ] satisfies [string, Reply][])('is accepted with %s', async (_, reply) => {
    const server = await serverWith(reply);
    expect((await clientOf(server.url).placeOrder(NEW_ORDER)).data).toEqual({ id: 'o-1' });
  });
});

it.each<[unknown, string | undefined]>([
  [777, '777'],
  [2 ** 53, undefined],
  [7.5, undefined],
  [null, undefined],
])('the order id %j is %s, and never a number that JSON.parse rounds', async (id, read) => {
  const partner = clientOf((await serverWith({ json: envelope({ id }) })).url);
  if (read !== undefined) expect((await partner.placeOrder(NEW_ORDER)).data.id).toBe(read);
  else
    expect(await failureOf(partner.placeOrder(NEW_ORDER))).toMatchObject({ kind: 'unreadable', evidence: 'UNKNOWN' });
});

describe('a response with an error status', () => {
  it('is reported with all facts that an operator needs', async () => {
    const json = envelope({}, { success: false, status: 429 });
    const { server, error } = await failedPlacement({ status: 429, headers: { 'retry-after': '7' }, json });
    const facts = { httpStatus: 429, operation: 'placeOrder', traceId: 'trace-1', retryAfterMs: 7000 };
    expect(error).toMatchObject({ evidence: 'ERROR_RESPONSE', kind: 'status', ...facts });
    expect(server.received).toHaveLength(1);
  });

  it('asks for the delay that its own clock means, not for an hour because that clock is ahead', async () => {
    const headers = { date: 'Thu, 01 Jan 2026 05:00:00 GMT', 'retry-after': 'Thu, 01 Jan 2026 05:00:30 GMT' };
    const now = () => Date.parse('2026-01-01T00:00:00Z');
    expect((await failedPlacement({ status: 503, headers }, { now })).error.retryAfterMs).toBe(30_000);
  });

  it.each([
    ['a proxy page', { status: 502, body: '<html>bad gateway</html>' }, 'ERROR_RESPONSE'],
    ['a huge page', { status: 422, body: 'x'.repeat(2_000_000) }, 'ORDER_REJECTED'],
    ['a body that breaks off', { raw: 'HTTP/1.1 402 No\r\ncontent-length: 99\r\n\r\nhalf' }, 'ORDER_REJECTED'],
    ['a body that never ends', { raw: 'HTTP/1.1 500 No\r\n\r\nhalf', then: 'hold' }, 'ERROR_RESPONSE'],
    ['a body that claims success', { status: 500, json: envelope({ id: 'o-1' }) }, 'ERROR_RESPONSE'],
    ['bytes that are no text', { status: 403, body: Buffer.from([0xff, 0xfe, 0]) }, 'ACCESS_DENIED'],
  ] satisfies [string, Reply, string][])('is judged by the status, not by the body: %s', async (_, reply, evidence) => {
    expect((await failedPlacement(reply, { timeoutMs: 500 })).error).toMatchObject({ evidence });
  });

  it.each([
    [{ details: { data: { code: 'insufficient_balance' } } }, 'insufficient_balance'],
    [{ details: { code: 'OUT-OF-STOCK' } }, 'out_of_stock'],
    [{ error: { code: 'Unknown Product' } }, 'unknown_product'],
    [{ error: 'duplicate_order' }, 'duplicate_order'],
    [{ code: 'quantity_too_large' }, 'quantity_too_large'],
    [{ code: 'ABCD-EFGH-IJKL' }, undefined],
    [{ code: { code: 'bad_request' } }, undefined],
    [{ message: 'insufficient_balance' }, undefined],
  ])('yields a known error code, but never another text, which may be a key: %j', async (json, errorCode) => {
    const { error } = await failedPlacement({ status: 422, json });
    const shown = errorCode === undefined ? '' : ` (${errorCode})`;
    expect(error).toMatchObject({ errorCode, message: `placeOrder: the partner returned 422${shown}` });
    expect(error.evidence).toBe(errorCode === 'duplicate_order' ? 'CONFLICT' : 'ORDER_REJECTED');
  });

  it('is never followed if it is a redirect: the other server sees neither the order nor the API key', async () => {
    const elsewhere = await serverWith({ json: envelope({ id: 'o-1' }) });
    const { error } = await failedPlacement({ status: 307, headers: { location: `${elsewhere.url}/place-order` } });
    expect(error).toMatchObject({ evidence: 'UNKNOWN', httpStatus: 307 });
    expect(elsewhere.connections).toBe(0);
  });
});

describe('a 2xx that does not prove an order', () => {
  it.each([
    ['half JSON, without a content-length', { raw: `HTTP/1.1 200 OK\r\n\r\n${whole.slice(0, 40)}` }],
    ['half JSON, cut by a reset', { raw: `HTTP/1.1 200 OK\r\n\r\n${whole.slice(0, 40)}`, then: 'reset' }],
    ['a missing success field', { json: { status: 200, details: { data: { id: 'o-1' } } } }],
    ['success as a string', { json: envelope({ id: 'o-1' }, { success: 'true' }) }],
    ['a missing status in the envelope', { json: { success: true, details: { data: { id: 'o-1' } } } }],
    ['a redirect status in the envelope', { json: envelope({ id: 'o-1' }, { status: 302 }) }],
    ['a list around it', { json: [envelope({ id: 'o-1' })] }],
    ['an id only on the prototype', { body: whole.replace('"id":"o-1"', '"__proto__":{"id":"o-1"}') }],
    ['a body beyond the cap', { json: envelope({ id: 'o-1', padding: 'x'.repeat(5000) }) }],
    ['a mangled character', { body: Buffer.concat([Buffer.from(whole.slice(0, -1)), Buffer.from([0xc3, 0x7d])]) }],
    ['a compressed body', { headers: { 'content-encoding': 'gzip' }, body: Buffer.from([0x1f, 0x8b]) }],
  ] satisfies [string, Reply][])('is an unknown outcome, never an order and never a refusal: %s', async (_, reply) => {
    const { server, error } = await failedPlacement(reply, { maxBodyBytes: 4000 });
    expect(error).toMatchObject({ evidence: 'UNKNOWN' });
    expect(server.received).toHaveLength(1);
  });

  it.each([
    ['success: false', envelope({ id: 'o-1' }, { success: false })],
    ['success: false and nothing else', { success: false }],
    ['an error status', envelope({ id: 'o-1' }, { status: 500 })],
    ['a refusal that only the envelope mentions', envelope({}, { status: 422, success: false })],
    ['an error status as text', envelope({ id: 'o-1' }, { status: '422' })],
  ])('is an error response if the envelope says so: %s', async (_, json) => {
    expect((await failedPlacement({ json })).error).toMatchObject({
      evidence: 'ERROR_RESPONSE',
      kind: 'unsuccessful',
    });
  });

  it.each([
    [422, { code: 'insufficient_stock' }, ' (422, insufficient_stock)', false],
    ['422', { code: 'insufficient_stock' }, ' (422, insufficient_stock)', false],
    [403, { code: 'FAKE-KEY' }, ' (403)', true],
    [200, { code: 'insufficient_balance' }, ' (insufficient_balance)', true],
    [200, {}, '', true],
  ])(
    'names the status and the known code of its envelope, and counts only if it is not about this order: %s, %j',
    async (status, data, shown, countsAgainstPartner) => {
      const { error } = await failedPlacement({ json: envelope(data, { status, success: false }) });
      const message = `placeOrder: the partner's envelope reports an error${shown}`;
      expect(error).toMatchObject({ message, countsAgainstPartner, evidence: 'ERROR_RESPONSE' });
    },
  );
});

describe('a failure after the write is an unknown outcome, never "not sent"', () => {
  it.each([
    ['a reset after the request was read', 'reset'],
    ['a black hole', 'hang'],
    ['a head that never ends', { raw: 'HTTP/1.1 200 OK\r\ncontent-', then: 'hold' }],
    ['a body that never ends', { raw: `HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n${whole}`, then: 'hold' }],
    ['no HTTP', { raw: 'SSH-2.0-OpenSSH_9.9\r\n' }],
    ['an upgrade', { raw: 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n' }],
    ['an oversized head', { raw: `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(70_000)}\r\n\r\n` }],
  ] satisfies [string, Reply][])('%s', async (_, reply) => {
    const { server, error } = await failedPlacement(reply, { timeoutMs: 400 });
    expect(error).toMatchObject({ evidence: 'UNKNOWN' });
    expect(server.received).toHaveLength(1);
  });

  it('a reset before the partner reads, because our side cannot tell whether it read the request', async () => {
    let reset = () => {};
    const server = await startTcpServer((socket) => (reset = () => void socket.resetAndDestroy()));
    onceAt('undici:client:sendHeaders', () => setImmediate(() => reset()));
    const error = await failureOf(clientOf(`http://127.0.0.1:${server.port}`).placeOrder(NEW_ORDER));
    expect(error).toMatchObject({ kind: 'connection-lost', evidence: 'UNKNOWN' });
  });
});

it('closing the client waits for the running placement, whose response must not be lost', async () => {
  let closed: Promise<void> | undefined;
  const respond = () => {
    closed = partner.close();
    return { json: envelope({ id: 'o-1' }) };
  };
  const partner = clientOf((await serverWith(undefined, { respond })).url);
  expect(await partner.placeOrder(NEW_ORDER)).toMatchObject({ data: { id: 'o-1' } });
  await closed;
});
