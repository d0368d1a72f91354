import { connect, type Socket } from 'node:net';
import type { PartnerClient } from '../../../src/partner/index';
import { freePort } from '../../support/free-port';
import { type ScriptedServer, startTcpServer } from '../../support/http-server';
import { selfSigned } from '../../support/self-signed';
import { waitUntil } from '../../support/wait-until';
import { clientOf, envelope, failureOf, NEW_ORDER, onceAt, serverWith } from './fixtures';

const OK = { json: envelope({ id: 'o-1' }) };
type PlacementOptions = Parameters<PartnerClient['placeOrder']>[1];

describe('a failure before the write is not sent', () => {
  it.each([
    ['a refused connection', async () => `http://127.0.0.1:${await freePort()}`],
    ['a name that does not exist', async () => 'http://partner.invalid'],
    ['a partner that speaks no TLS', async () => (await serverWith()).url.replace('http:', 'https:')],
  ])('%s', async (_, urlOf) => {
    const error = await failureOf(clientOf(await urlOf()).placeOrder(NEW_ORDER));
    expect(error).toMatchObject({ kind: 'unreachable', placement: 'NOT_SENT' });
  });

  it('a certificate that nobody vouches for: the API key stays here', async () => {
    const server = await serverWith(OK, { tls: selfSigned() });
    const error = await failureOf(clientOf(server.url).placeOrder(NEW_ORDER));

    expect(error).toMatchObject({ kind: 'unreachable', code: 'DEPTH_ZERO_SELF_SIGNED_CERT', placement: 'NOT_SENT' });
    expect(server.received).toEqual([]);
  });

  it('a TLS handshake that never ends is over at the deadline', async () => {
    const server = await startTcpServer();
    const partner = clientOf(`https://127.0.0.1:${server.port}`, { timeoutMs: 300 });
    expect(await failureOf(partner.placeOrder(NEW_ORDER))).toMatchObject({ kind: 'timeout', placement: 'NOT_SENT' });
  });

  it('the time is taken at the write: a process frozen after it had connected posts nothing', async () => {
    const server = await serverWith(OK);
    let time = 1000;
    onceAt('undici:client:connected', () => (time = 1001));
    const error = await failureOf(clientOf(server.url, { now: () => time }).placeOrder(NEW_ORDER, { notAfter: 1000 }));
    expect(error).toMatchObject({ kind: 'too-late', placement: 'NOT_SENT' });
    expect(server.received).toEqual([]);
  });

  it.each<[string, string, PlacementOptions]>([
    ['whose time is over', 'too-late', { notAfter: 999 }],
    ['whose permission is refused', 'withdrawn', { beforeWrite: async () => ({ refused: 'not now' }) }],
    ['whose permission ends before the write', 'too-late', { beforeWrite: async () => ({ writeBy: 999 }) }],
  ])('a write %s: the connection is up, and not one byte is written', async (_, kind, options) => {
    const server = await serverWith(OK);
    const error = await failureOf(clientOf(server.url, { now: () => 1000 }).placeOrder(NEW_ORDER, options));
    expect(error).toMatchObject({ kind, placement: 'NOT_SENT' });
    await roundTrip(server);
    expect(server.connections).toBe(2);
    expect(server.bytesReceived()).toBe('GET / HTTP/1.0\r\n\r\n'.length);
  });

  // Only a reset shows that the partner is away.
  it.each<[string, string, (socket: Socket) => unknown, isOver: (ours: Socket) => boolean]>([
    ['has broken', 'unreachable', (socket) => socket.resetAndDestroy(), (ours) => ours.destroyed],
    ['was closed', 'withdrawn', (socket) => socket.resume().end(), (ours) => !ours.readable],
    [
      'was closed with a 408',
      'withdrawn',
      (socket) => socket.resume().end('HTTP/1.1 408 Request Timeout\r\n\r\n'),
      (ours) => ours.readableLength > 0,
    ],
  ])('a connection that %s while the permission was asked for', async (_, kind, end, isOver) => {
    let theirs: Socket | undefined;
    const server = await startTcpServer((socket) => void end((theirs = socket)));
    let ours: Socket | undefined;
    onceAt('net.client.socket', (message) => ({ socket: ours } = message as { socket: Socket }));
    const beforeWrite = async () => {
      await waitUntil('its end has arrived', () => ours && isOver(ours));
      return { writeBy: Infinity };
    };
    const partner = clientOf(`http://127.0.0.1:${server.port}`);
    expect(await failureOf(partner.placeOrder(NEW_ORDER, { beforeWrite }))).toMatchObject({
      kind,
      placement: 'NOT_SENT',
    });
    await waitUntil('the partner sees the end of it', () => theirs?.destroyed);
    expect(server.bytesReceived()).toBe(0);
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
    ['can not be read', unreadableKey],
  ])('an API key that %s, and the message does not show it', async (_, apiKey) => {
    const server = await serverWith();
    const error = await failureOf(clientOf(server.url, { apiKey }).placeOrder(NEW_ORDER));
    expect(error).toMatchObject({ kind: 'invalid-argument', placement: 'NOT_SENT' });
    expect(error.message).not.toMatch(/FAKE|a\r/);
    expect(server.connections).toBe(0);
  });

  it('a client that is closed, also while the request waits for its permit', async () => {
    const server = await serverWith(OK);
    const partner = clientOf(server.url, { maxRequestsPerSecond: 0.001 });
    await partner.placeOrder(NEW_ORDER);
    const refused = failureOf(partner.placeOrder(NEW_ORDER));
    await partner.close();
    for (const failure of [refused, failureOf(partner.placeOrder(NEW_ORDER))]) {
      expect(await failure).toMatchObject({ kind: 'closed', placement: 'NOT_SENT' });
    }
    expect(server.received).toHaveLength(1);
  });
});

function unreadableKey(): string {
  throw new Error('secret file FAKE-SECRET');
}

/** Waits until the server has handled a connection later than all before, so that it has also seen what those wrote. */
async function roundTrip(server: ScriptedServer): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const socket = connect(server.port, '127.0.0.1', () => socket.write('GET / HTTP/1.0\r\n\r\n'));
    socket.on('error', reject).on('close', () => resolve());
    socket.resume();
  });
}
