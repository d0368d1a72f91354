import { connect, type Socket } from 'node:net';
import type { PartnerClient } from '../../../src/partner/index';
import { freePort } from '../../support/free-port';
import { type ScriptedServer, startTcpServer } from '../../support/http-server';
import { selfSigned } from '../../support/self-signed';
import { waitUntil } from '../../support/wait-until';
import { clientOf, envelope, failureOf, NEW_ORDER, onceAt, serverWith } from './fixtures';

const OK = { json: envelope({ id: 'o-1' }) };
type PlacementOptions = Parameters<PartnerClient['placeOrder']>[1];

describe('a failure before the write counts as not sent', () => {
  it.each([
    ['a refused connection', async () => `http://127.0.0.1:${await freePort()}`],
    ['a name that does not exist', async () => 'http://partner.invalid'],
    ['a partner without TLS', async () => (await serverWith()).url.replace('http:', 'https:')],
  ])('%s', async (_, urlOf) => {
    const error = await failureOf(clientOf(await urlOf()).placeOrder(NEW_ORDER));
    expect(error).toMatchObject({ kind: 'unreachable', evidence: 'NOT_SENT' });
  });

  it('an untrusted certificate, which must not receive the API key', async () => {
    const server = await serverWith(OK, { tls: selfSigned() });
    const error = await failureOf(clientOf(server.url).placeOrder(NEW_ORDER));

    expect(error).toMatchObject({ kind: 'unreachable', code: 'DEPTH_ZERO_SELF_SIGNED_CERT', evidence: 'NOT_SENT' });
    expect(server.received).toEqual([]);
  });

  it('a TLS handshake that never ends, given up at the deadline', async () => {
    const server = await startTcpServer();
    const partner = clientOf(`https://127.0.0.1:${server.port}`, { timeoutMs: 300 });
    expect(await failureOf(partner.placeOrder(NEW_ORDER))).toMatchObject({ kind: 'timeout', evidence: 'NOT_SENT' });
  });

  it('a process that froze after connecting, because the time is checked right before the write', async () => {
    const server = await serverWith(OK);
    let time = 1000;
    onceAt('undici:client:connected', () => (time = 1001));
    const error = await failureOf(clientOf(server.url, { now: () => time }).placeOrder(NEW_ORDER, { notAfter: 1000 }));
    expect(error).toMatchObject({ kind: 'too-late', evidence: 'NOT_SENT' });
    expect(server.received).toEqual([]);
  });

  it.each<[string, string, PlacementOptions]>([
    ['whose time is up', 'too-late', { notAfter: 999 }],
    ['whose permission is refused', 'aborted', { beforeWrite: async () => ({ refused: 'not now' }) }],
    ['whose permission expires before the write', 'too-late', { beforeWrite: async () => ({ writeBy: 999 }) }],
  ])('a write %s: not one byte is sent on the open connection', async (_, kind, options) => {
    const server = await serverWith(OK);
    const error = await failureOf(clientOf(server.url, { now: () => 1000 }).placeOrder(NEW_ORDER, options));
    expect(error).toMatchObject({ kind, evidence: 'NOT_SENT' });
    await roundTrip(server);
    expect(server.connections).toBe(2);
    expect(server.bytesReceived()).toBe('GET / HTTP/1.0\r\n\r\n'.length);
  });

  // Only a reset proves that the partner is unreachable; a server may close an idle connection.
  it.each<[string, string, (socket: Socket) => unknown, isOver: (ours: Socket) => boolean]>([
    ['was reset', 'unreachable', (socket) => socket.resetAndDestroy(), (ours) => ours.destroyed],
    ['was closed', 'aborted', (socket) => socket.resume().end(), (ours) => !ours.readable],
    [
      'was closed with a 408',
      'aborted',
      (socket) => socket.resume().end('HTTP/1.1 408 Request Timeout\r\n\r\n'),
      (ours) => ours.readableLength > 0,
    ],
  ])('a connection that %s while waiting for permission', async (_, kind, end, isOver) => {
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
      evidence: 'NOT_SENT',
    });
    await waitUntil('the partner sees the end of it', () => theirs?.destroyed);
    expect(server.bytesReceived()).toBe(0);
  });

  it.each([
    ['no items', { ...NEW_ORDER, items: [] }],
    ['a quantity of zero', { ...NEW_ORDER, items: [{ id: 'p-1', quantity: 0 }] }],
    ['a fractional quantity', { ...NEW_ORDER, items: [{ id: 'p-1', quantity: 1.5 }] }],
    ['an empty product id', { ...NEW_ORDER, items: [{ id: '', quantity: 1 }] }],
    ['a malformed reference', { ...NEW_ORDER, referenceId: 'REF 1\r\n' }],
  ])('an impossible order: %s', async (_, order) => {
    const server = await serverWith();
    const error = await failureOf(clientOf(server.url).placeOrder(order));
    expect(error).toMatchObject({ kind: 'invalid-argument', evidence: 'NOT_SENT' });
    expect(server.connections).toBe(0);
  });

  it.each([
    ['is empty', () => ''],
    ['would break the header', () => 'a\r\nb'],
    ['cannot be read', unreadableKey],
  ])('an API key that %s; the message does not show the key', async (_, apiKey) => {
    const server = await serverWith();
    const error = await failureOf(clientOf(server.url, { apiKey }).placeOrder(NEW_ORDER));
    expect(error).toMatchObject({ kind: 'invalid-argument', evidence: 'NOT_SENT' });
    expect(error.message).not.toMatch(/FAKE|a\r/);
    expect(server.connections).toBe(0);
  });

  it('a closed client, even if it was closed while the request waited for its permit', async () => {
    const server = await serverWith(OK);
    const partner = clientOf(server.url, { maxRequestsPerSecond: 0.001 });
    await partner.placeOrder(NEW_ORDER);
    const refused = failureOf(partner.placeOrder(NEW_ORDER));
    await partner.close();
    for (const failure of [refused, failureOf(partner.placeOrder(NEW_ORDER))]) {
      expect(await failure).toMatchObject({ kind: 'closed', evidence: 'NOT_SENT' });
    }
    expect(server.received).toHaveLength(1);
  });
});

function unreadableKey(): string {
  throw new Error('secret file FAKE-SECRET');
}

/** Makes one more connection and waits for its end: the server has then seen everything written on earlier ones. */
async function roundTrip(server: ScriptedServer): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const socket = connect(server.port, '127.0.0.1', () => socket.write('GET / HTTP/1.0\r\n\r\n'));
    socket.on('error', reject).on('close', () => resolve());
    socket.resume();
  });
}
