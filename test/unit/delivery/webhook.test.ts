import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Webhook } from 'standardwebhooks';
import { type EventSender, type DeliveryError, type DeliveryEvent, isDeliveryError } from '../../../src/delivery/index';
import { createWebhookSender, type WebhookOptions } from '../../../src/delivery/webhook';
import { closeAtEnd } from '../../support/clean-up';
import { rejectionOf } from '../../support/checks';
import { type Reply, startServer, startTcpServer } from '../../support/http-server';
import { type Answer, type Receiver, startReceiver } from '../../support/receiver';
import { waitUntil } from '../../support/wait-until';
import { changedEvents } from '../../support/audit';

const OLD = `whsec_${Buffer.alloc(24, 'fake-old').toString('base64')}`;
const NEW = `whsec_${Buffer.alloc(64, 'fake-new').toString('base64')}`;
/** Long enough that no test reaches it by accident. */
const PATIENT_MS = 30_000;

function receiver(secret = OLD): Promise<Receiver> {
  return startReceiver({ secret });
}

function webhook(url: string, options: Partial<WebhookOptions> = {}): EventSender {
  const made = createWebhookSender({ url, secrets: () => [OLD], timeoutMs: PATIENT_MS, ...options });
  closeAtEnd(made.close);
  return made;
}

function event(id = 'evt_1', value = 'fake-key-1'): DeliveryEvent {
  const keys = [{ id: `k.${value}`, type: 'text', value }];
  const lines = [{ productId: 'p-1', title: 'Größe 50 €', quantity: 1, keys }];
  const data = { referenceId: 'REF-1', orderId: 'o-1', outcome: 'DELIVERED', totalDebit: 12.34, lines };
  return { id, body: { type: 'purchase.delivered', timestamp: '2026-01-01T00:00:00.000Z', data } };
}

async function failureOf(attempt: Promise<boolean>): Promise<DeliveryError> {
  const error = await rejectionOf<unknown>(attempt);
  if (isDeliveryError(error)) return error;
  throw new Error('this attempt did not fail as a delivery does', { cause: error });
}

/** Lets the first attempt fail at a receiver that gives this response. */
async function failedBy(response: Answer, options?: Partial<WebhookOptions>) {
  const shop = await receiver();
  shop.script(response);
  const delivery = webhook(shop.url, options);
  return { shop, delivery, error: await failureOf(delivery.deliver(event())) };
}

describe('an event', () => {
  it('arrives complete even with megabytes of data, because keys can be images', async () => {
    const shop = await receiver();
    const events = [event(), event('evt_2', 'x'.repeat(3_000_000))];
    for (const one of events) expect(await webhook(shop.url).deliver(one)).toBe(true);
    expect([...shop.events.values()]).toEqual(events.map(({ body }) => body));
  });

  it('keeps its id across attempts, and each attempt signs its own time', async () => {
    const shop = await receiver();
    let now = Date.now();
    const delivery = webhook(shop.url, { now: () => now });
    shop.script(500);
    await failureOf(delivery.deliver(event()));
    now += 60_000;
    await delivery.deliver(event());

    const [first, second] = shop.attempts;
    expect([first!.id, second!.id, second!.timestamp - first!.timestamp]).toEqual(['evt_1', 'evt_1', 60]);
    expect([shop.events.size, changedEvents(shop), shop.refused]).toEqual([1, [], 0]);
  });
});

describe('the signature', () => {
  it('covers exactly the bytes that are sent, with the time in whole seconds', async () => {
    const server = await startServer();
    server.script({ status: 204 });
    await webhook(server.url, { now: () => 1_614_265_330_999 }).deliver(event());

    const [{ headers, body, method }] = server.received as [(typeof server.received)[0]];
    expect(method).toBe('POST');
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': 'evt_1',
      'webhook-timestamp': '1614265330',
      'webhook-signature': new Webhook(OLD).sign('evt_1', new Date(1_614_265_330_000), body),
    });
  });

  it('is sent for every secret, newest first, so that both sides can rotate at any time', async () => {
    for (const trusted of [OLD, NEW]) {
      const shop = await receiver(trusted);
      await webhook(shop.url, { secrets: () => [NEW, OLD] }).deliver(event());
      expect(shop.attempts.map(({ signatures }) => signatures)).toEqual([2]);
    }
  });
});

describe('a response', () => {
  // 410: the receiver will never want the event, which is not a failure.
  it.each([200, 201, 202, 204, 299, 410])(
    'of %i ends the delivery, and confirms it unless it is 410',
    async (status) => {
      const shop = await receiver();
      shop.script(status);
      expect(await webhook(shop.url).deliver(event())).toBe(status !== 410);
      expect(shop.events.size).toBe(status === 410 ? 0 : 1);
    },
  );

  // A redirect is not followed: keys go only to the configured URL.
  it.each([301, 302, 303, 304, 307, 308, 400, 401, 404, 409, 429, 500, 503])(
    'of %i does not confirm the delivery',
    async (status) => {
      const elsewhere = await receiver();
      const { shop, error } = await failedBy({ status, headers: { location: elsewhere.url } });
      expect(error).toMatchObject({ kind: 'error-response', httpStatus: status });
      expect([shop.attempts.length, elsewhere.attempts.length, elsewhere.refused]).toEqual([1, 0, 0]);
    },
  );

  it('with a Retry-After sets the delay, whatever its clock shows', async () => {
    const server = await startServer();
    const headers = { date: 'Thu, 01 Jan 2026 05:00:00 GMT', 'retry-after': 'Thu, 01 Jan 2026 05:00:30 GMT' };
    server.script({ status: 503, headers }, { status: 503, headers: { 'retry-after': '7' } });
    const delivery = webhook(server.url, { now: () => Date.parse('2026-01-01T00:00:00Z') });
    expect((await failureOf(delivery.deliver(event()))).retryAfterMs).toBe(30_000);
    expect((await failureOf(delivery.deliver(event()))).retryAfterMs).toBe(7_000);
  });

  it.each<[string, Answer]>([
    ['that is huge', { status: 500, body: Buffer.alloc(5_000_000, 'fake-key-1') }],
    ['that quotes the key', { status: 400, body: 'fake-key-1' }],
  ])('with a body %s is never part of the error', async (_, response) => {
    const { delivery, error } = await failedBy(response);
    expect(JSON.stringify([error, error.message, error.stack])).not.toContain('fake-key-1');
    await delivery.deliver(event());
  });

  it('of 503 with an endless body is closed, so that the next attempt does not reuse the connection', async () => {
    let hasClosed = false;
    const onConnection = (socket: Socket) => void socket.once('close', () => (hasClosed = true));
    const server = await startServer({ onConnection });
    server.script({ raw: 'HTTP/1.1 503 Busy\r\ncontent-length: 99\r\n\r\nnever the whole', then: 'hold' });
    expect(await failureOf(webhook(server.url).deliver(event()))).toMatchObject({ httpStatus: 503 });
    await waitUntil('the connection is closed', () => hasClosed);
  });

  it('of 200 confirms the delivery even if its body never ends', async () => {
    const shop = await receiver();
    shop.script('head-only');
    expect(await webhook(shop.url, { timeoutMs: 2_000 }).deliver(event())).toBe(true);
  });
});

describe('an attempt without a response', () => {
  it.each<[string, Reply]>([
    ['silence', 'hang'],
    ['endless 1xx responses', endlessHints],
  ])('ends at its deadline: %s', async (_, reply) => {
    const server = await startServer();
    server.script(reply);
    const error = await failureOf(webhook(server.url, { timeoutMs: 300 }).deliver(event()));
    expect(error).toMatchObject({ kind: 'timeout' });
  });

  it('ends at an earlier deadline of its caller, and leaves no request open that could still be accepted', async () => {
    const server = await startServer();
    let hasClosed = false;
    server.script((socket) => void socket.once('close', () => (hasClosed = true)));
    const error = await failureOf(webhook(server.url).deliver(event(), 200));
    expect(error).toMatchObject({ kind: 'timeout' });
    await waitUntil('the connection is closed', () => hasClosed);
  });

  it('whose deadline has already passed sends nothing, not even on an open connection', async () => {
    const server = await startServer();
    server.script({ status: 204 });
    const delivery = webhook(server.url);
    await delivery.deliver(event());
    let sent = 0;
    const count = () => void (sent += 1);
    subscribe('undici:request:create', count);
    expect(await failureOf(delivery.deliver(event('evt_2'), -1))).toMatchObject({ kind: 'timeout' });
    unsubscribe('undici:request:create', count);
    expect(sent).toBe(0);
  });

  it.each<[string, Answer]>([
    ['was reset', 'reset'],
    ['was reset after the event was accepted', 'take-and-reset'],
  ])('that %s is tried again under the same id', async (_, response) => {
    const { shop, delivery, error } = await failedBy(response);
    expect(error.kind).toBe('unreachable');
    await delivery.deliver(event());
    expect([shop.events.size, shop.attemptsAt('evt_1')]).toEqual([1, 2]);
  });

  it('reports the origin and the code, never the path of the URL', async () => {
    const server = await startTcpServer();
    await server.close();
    const error = await failureOf(webhook(`http://127.0.0.1:${server.port}/path-with-token`).deliver(event()));
    expect(error.kind).toBe('unreachable');
    expect(error.message).toMatch(/127\.0\.0\.1:\d+ .*ECONNREFUSED$/);
    expect(JSON.stringify([error, error.message, error.stack])).not.toContain('path-with-token');
    expect(error.cause).toBeUndefined();
  });

  it('does not block other events, and loses no deadline to a garbage collection', async () => {
    const shop = await receiver();
    shop.respondWith(({ id }) => (id.startsWith('evt_slow') ? 'hang' : 204));
    const delivery = webhook(shop.url, { timeoutMs: 1_500 });
    const slow = Array.from({ length: 20 }, (_, index) => failureOf(delivery.deliver(event(`evt_slow${index}`))));
    await waitUntil('all have arrived', () => shop.attempts.length === 20);
    await Promise.all(Array.from({ length: 20 }, (_, index) => delivery.deliver(event(`evt_${index}`))));
    expect(shop.events.size).toBe(20);
    setFlagsFromString('--expose-gc');
    (runInNewContext('gc') as () => void)();
    expect(new Set((await Promise.all(slow)).map(({ kind }) => kind))).toEqual(new Set(['timeout']));
  });
});

it('the test receiver reports an event id with changed keys, and rejects a signature made with another secret', async () => {
  const shop = await receiver();
  await webhook(shop.url).deliver(event('evt_1', 'fake-key-1'));
  await webhook(shop.url).deliver(event('evt_1', 'fake-key-2'));
  expect(changedEvents(shop)).toEqual(['evt_1']);
  const error = await failureOf(webhook(shop.url, { secrets: () => [NEW] }).deliver(event()));
  expect([error.httpStatus, shop.refused, shop.attempts.length]).toEqual([401, 1, 2]);
});

function endlessHints(socket: Socket): void {
  const timer = setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'), 20);
  socket.once('close', () => clearInterval(timer));
}
