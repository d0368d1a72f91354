import { clientOf, envelope, failureOf, historyRow, NEW_ORDER } from './fixtures';
import { serverWith } from './servers';

const HISTORY = envelope({ hits: 1, orders: [historyRow('o-1')], pages: { page: 1, total: 1, limit: 500 } });

describe('a client under a ceiling of requests', () => {
  it('sends no order whose slot comes after its last moment, and says so at once', async () => {
    const server = await serverWith({ json: envelope({ id: 'o-1' }) });
    const partner = clientOf(server.url, { maxRequestsPerSecond: 0.01 });
    await partner.placeOrder(NEW_ORDER);
    const second = partner.placeOrder(NEW_ORDER, { notAfter: Date.now() + 5_000 });
    await expect(second).rejects.toMatchObject({
      kind: 'too-late',
      placement: 'NOT_SENT',
      turnInMs: expect.any(Number),
    });
    expect(server.received).toHaveLength(1);
  });

  it('begins no search before a placement that has no time for its write', async () => {
    const server = await serverWith({ json: HISTORY });
    const partner = clientOf(server.url, { maxRequestsPerSecond: 0.1 });
    const turn = { priority: 'placement', notAfter: Date.now() + 5_000 } as const;
    const error = await failureOf(partner.inTurn(turn, (own) => own.listOrders({ search: 'REF-1' })));
    expect(error).toMatchObject({ kind: 'too-late', turnInMs: expect.any(Number) });
    expect(server.received).toEqual([]);
  });

  it('goes on under the turn that it is in: what a reconciliation reads is never as urgent as a delivery', async () => {
    const server = await serverWith({ json: HISTORY });
    const partner = clientOf(server.url, { maxRequestsPerSecond: 0.1 });
    await partner.listOrders();
    const aborting = new AbortController();
    const reading = partner.inTurn({ priority: 'reconciliation', signal: aborting.signal }, (own) =>
      // A turn of its own would end at once, because it has no time.
      own.inTurn({ priority: 'delivery', notAfter: Date.now() }, (inner) => inner.listOrders()),
    );
    setImmediate(() => aborting.abort());
    expect(await failureOf(reading)).toMatchObject({ kind: 'closed' });
    expect(server.received).toHaveLength(1);
  });

  it('does not count the wait for a slot as part of the deadline', async () => {
    const server = await serverWith({ json: envelope({ id: 'o-1' }) });
    const partner = clientOf(server.url, { maxRequestsPerSecond: 2, timeoutMs: 400 });
    const placed = await Promise.all([1, 2, 3].map(() => partner.placeOrder(NEW_ORDER)));
    expect(placed).toHaveLength(3);
  });
});
