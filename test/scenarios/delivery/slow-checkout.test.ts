import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { startServer } from '../../support/http-server';
import { sharedEnvironment } from '../../support/test-environment';
import { startWorkerOf } from '../../support/worker';

const RESPOND_AFTER_MS = 2_500;

/** A checkout that takes this long for every response. It counts the event ids and the concurrent requests per event. */
async function startSlowCheckout() {
  const sockets: Socket[] = [];
  const open: string[] = [];
  const seen = { ids: [] as string[], mostOpen: 0 };
  const server = await startServer({
    onConnection: (socket) => void sockets.push(socket),
    async respond({ headers, connection }) {
      const id = String(headers['webhook-id']);
      seen.ids.push(id);
      open.push(id);
      seen.mostOpen = Math.max(seen.mostOpen, open.filter((other) => other === id).length);
      await Promise.race([sleep(RESPOND_AFTER_MS), once(sockets[connection - 1]!, 'close')]);
      open.splice(open.indexOf(id), 1);
      return { status: 204 };
    },
  });
  return Object.assign(seen, { url: server.url });
}

describe(`a checkout that takes ${RESPOND_AFTER_MS} ms for every response`, () => {
  const env = sharedEnvironment({ worker: false, settings: { deliveryTimeoutMs: 20_000 } });

  it('never gets two requests for one event at once, and only its first event is tried with the short deadline', async () => {
    const checkout = await startSlowCheckout();
    await startWorkerOf({ ...env, receiver: checkout }, {});
    expect(await env.bought({ 'demo-instant': 2 })).toMatchObject({ outcome: 'DELIVERED' });
    const others = [env.reference(), env.reference(), env.reference()];
    await Promise.all(others.map((referenceId) => env.bought({ 'demo-instant': 1 }, referenceId)));

    expect(checkout.mostOpen).toBe(1);
    const [first, again, ...rest] = checkout.ids;
    expect(again).toBe(first);
    expect(new Set(rest).size).toBe(others.length);
    expect(rest).toHaveLength(others.length);
  });
});
