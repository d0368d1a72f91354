import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** The checkout of a run. It responds to every event at once and records when the keys of each purchase first arrived. */
export interface Receiver {
  url: string;
  /** Epoch ms, by reference. */
  deliveredAt: ReadonlyMap<string, number>;
  keys: ReadonlySet<string>;
  close(): Promise<void>;
}

interface Event {
  type: string;
  data: { referenceId?: string; lines?: { keys?: { value: string }[] }[] };
}

export async function startReceiver(): Promise<Receiver> {
  const deliveredAt = new Map<string, number>();
  const received = new Set<string>();
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await text(request);
    const now = Date.now();
    response.writeHead(200).end();
    const { data } = JSON.parse(body) as Event;
    const keys = (data.lines ?? []).flatMap((line) => line.keys ?? []);
    for (const { value } of keys) received.add(value);
    if (keys.length === 0 || data.referenceId === undefined || deliveredAt.has(data.referenceId)) return;
    deliveredAt.set(data.referenceId, now);
  };
  // A broken connection carries no event; the worker sends it again.
  const server = createServer((request, response) => void receive(request, response).catch(() => response.destroy()));
  server.keepAliveTimeout = 65_000;
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`,
    deliveredAt,
    keys: received,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
