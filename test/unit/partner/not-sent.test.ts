import { connect, type Socket } from 'node:net';
import { freePort } from '../../support/free-port';
import { type ScriptedServer, startTcpServer } from '../../support/http-server';
import { selfSigned } from '../../support/self-signed';
import { waitUntil } from '../../support/wait-until';
import { clientOf, envelope, failureOf, NEW_ORDER, onceAt, serverWith } from './fixtures';

describe('a failure before the write is not sent', () => {
  it('a refused connection', async () => {
    const error = await failureOf(clientOf(`http://127.0.0.1:${await freePort()}`).placeOrder(NEW_ORDER));
    expect(error).toMatchObject({ kind: 'unreachable', placement: 'NOT_SENT', code: 'ECONNREFUSED' });
  });

  it('a name that does not exist', async () => {
    const error = await failureOf(clientOf('http://partner.invalid').placeOrder(NEW_ORDER));
    expect(error).toMatchObject({ kind: 'unreachable', placement: 'NOT_SENT' });
  });

  it('a certificate that nobody vouches for: the API key stays here', async () => {
    const server = await serverWith({ json: envelope({ id: 'o-1' }) }, { tls: selfSigned() });
    const error = await failureOf(clientOf(server.url).placeOrder(NEW_ORDER));

    expect(error).toMatchObject({ kind: 'unreachable', code: 'DEPTH_ZERO_SELF_SIGNED_CERT', placement: 'NOT_SENT' });
    expect(server.received).toEqual([]);
  });

  it('a partner that speaks no TLS', async () => {
    const server = await serverWith();
    const error = await failureOf(clientOf(server.url.replace('http:', 'https:')).placeOrder(NEW_ORDER));
    expect(error).toMatchObject({ kind: 'unreachable', placement: 'NOT_SENT' });
    expect(server.received).toEqual([]);
  });

  it('a TLS handshake that never ends is over at the deadline', async () => {
    const server = await startTcpServer();
    const partner = clientOf(`https://127.0.0.1:${server.port}`, { timeoutMs: 300 });
    expect(await failureOf(partner.placeOrder(NEW_ORDER))).toMatchObject({ kind: 'timeout', placement: 'NOT_SENT' });
  });

  it('a write that comes too late writes not one byte', async () => {
    const server = await serverWith({ json: envelope({ id: 'o-1' }) });
    const partner = clientOf(server.url, { now: () => 1001 });
    const error = await failureOf(partner.placeOrder(NEW_ORDER, { notAfter: 1000 }));
    await partner.close();

    expect(error).toMatchObject({ kind: 'too-late', placement: 'NOT_SENT' });
    await roundTrip(server);
    expect(server.connections).toBe(2);
    expect(server.bytesReceived()).toBe('GET / HTTP/1.0\r\n\r\n'.length);
  });

  it('the time is taken at the write: a process frozen after it had connected posts nothing', async () => {
    const server = await serverWith({ json: envelope({ id: 'o-1' }) });
    let time = 1000;
    onceAt('undici:client:connected', () => (time = 1001));
    const error = await failureOf(clientOf(server.url, { now: () => time }).placeOrder(NEW_ORDER, { notAfter: 1000 }));
    expect(error).toMatchObject({ kind: 'too-late', placement: 'NOT_SENT' });
    expect(server.received).toEqual([]);
  });

  it.each([
    ['is refused', 'withdrawn', { refused: 'not now' }],
    ['comes too late for the write', 'too-late', { writeBy: 999 }],
  ])('a permission that %s writes not one byte', async (_, kind, permission) => {
    const server = await serverWith({ json: envelope({ id: 'o-1' }) });
    const partner = clientOf(server.url, { now: () => 1000 });
    const connections: number[] = [];
    const beforeWrite = async () => {
      await waitUntil('it is connected', () => server.connections > 0);
      connections.push(server.connections);
      return permission;
    };
    const error = await failureOf(partner.placeOrder(NEW_ORDER, { notAfter: 2000, beforeWrite }));

    expect(error).toMatchObject({ kind, placement: 'NOT_SENT' });
    expect(connections).toEqual([1]);
    await roundTrip(server);
    expect(server.bytesReceived()).toBe('GET / HTTP/1.0\r\n\r\n'.length);
  });

  it('a connection that has broken while the permission was asked for', async () => {
    const server = await startTcpServer((socket) => void socket.resetAndDestroy());
    const partner = clientOf(`http://127.0.0.1:${server.port}`);
    let ours: Socket | undefined;
    onceAt('net.client.socket', (message) => ({ socket: ours } = message as { socket: Socket }));
    const beforeWrite = async () => {
      await waitUntil('it has broken', () => ours?.destroyed);
      return { writeBy: Infinity };
    };
    const error = await failureOf(partner.placeOrder(NEW_ORDER, { beforeWrite }));
    expect(error).toMatchObject({ kind: 'unreachable', placement: 'NOT_SENT' });
  });

  it.each([
    ['was closed', '', (ours: Socket) => !ours.readable],
    ['was closed with a 408', 'HTTP/1.1 408 Request Timeout\r\n\r\n', (ours: Socket) => ours.readableLength > 0],
  ])(
    'a connection that %s while the permission was asked for, which does not show that the partner is away',
    async (_, words, isClosed) => {
      let theirs: Socket | undefined;
      const server = await startTcpServer((socket) => (theirs = socket.resume()).end(words));
      let ours: Socket | undefined;
      onceAt('net.client.socket', (message) => ({ socket: ours } = message as { socket: Socket }));
      const beforeWrite = async () => {
        await waitUntil('its end has arrived', () => ours && isClosed(ours));
        return { writeBy: Infinity };
      };
      const partner = clientOf(`http://127.0.0.1:${server.port}`);
      const error = await failureOf(partner.placeOrder(NEW_ORDER, { beforeWrite }));

      expect(error).toMatchObject({ kind: 'withdrawn', placement: 'NOT_SENT' });
      await waitUntil('the partner sees the end of it', () => theirs?.destroyed);
      expect(server.bytesReceived()).toBe(0);
    },
  );

  it('a write in time is sent', async () => {
    const server = await serverWith({ json: envelope({ id: 'o-1' }) });
    const partner = clientOf(server.url, { now: () => 1000 });
    expect((await partner.placeOrder(NEW_ORDER, { notAfter: 1000 })).data.id).toBe('o-1');
  });

  it.each([
    ['no items', { ...NEW_ORDER, items: [] }],
    ['a quantity of zero', { ...NEW_ORDER, items: [{ id: 'p-1', quantity: 0 }] }],
    ['half a piece', { ...NEW_ORDER, items: [{ id: 'p-1', quantity: 1.5 }] }],
    ['an empty product id', { ...NEW_ORDER, items: [{ id: '', quantity: 1 }] }],
    ['a reference of another form', { ...NEW_ORDER, referenceId: 'REF 1\r\n' }],
  ])('an order that can not be: %s', async (_, order) => {
    const server = await serverWith();
    const error = await failureOf(clientOf(server.url).placeOrder(order));
    expect(error).toMatchObject({ kind: 'invalid-argument', placement: 'NOT_SENT' });
    expect(server.connections).toBe(0);
  });

  it.each([
    ['is empty', () => ''],
    ['would break the header', () => 'a\r\nb'],
    [
      'can not be read',
      () => {
        throw new Error('secret file FAKE-SECRET');
      },
    ],
  ])('an API key that %s, and the message does not show it', async (_, apiKey) => {
    const server = await serverWith();
    const error = await failureOf(clientOf(server.url, { apiKey }).placeOrder(NEW_ORDER));
    expect(error).toMatchObject({ kind: 'invalid-argument', placement: 'NOT_SENT' });
    expect(error.message).not.toMatch(/FAKE|a\r/);
    expect(server.connections).toBe(0);
  });

  it('a client that was closed', async () => {
    const server = await serverWith();
    const partner = clientOf(server.url);
    await partner.close();
    expect(await failureOf(partner.placeOrder(NEW_ORDER))).toMatchObject({ kind: 'closed', placement: 'NOT_SENT' });
    expect(server.connections).toBe(0);
  });

  it('a client closed while the request waits for its slot', async () => {
    const server = await serverWith({ json: envelope({ id: 'o-1' }) });
    const partner = clientOf(server.url, { maxRequestsPerSecond: 0.001 });
    await partner.placeOrder(NEW_ORDER);
    const waiting = partner.placeOrder(NEW_ORDER);
    const refused = failureOf(waiting);
    await partner.close();
    expect(await refused).toMatchObject({ kind: 'closed', placement: 'NOT_SENT' });
    expect(server.received).toHaveLength(1);
  });
});

/** Waits until the server has handled a connection later than all before, so that it has also seen what those wrote. */
async function roundTrip(server: ScriptedServer): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const socket = connect(server.port, '127.0.0.1', () => socket.write('GET / HTTP/1.0\r\n\r\n'));
    socket.on('error', reject).on('close', () => resolve());
    socket.resume();
  });
}
