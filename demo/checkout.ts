import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

interface Payload {
  type: string;
  data: { referenceId?: string; lines?: { keys?: { value: string }[] }[] };
}

export interface DemoEvent {
  type: string;
  referenceId: string;
  keys: string[];
}

/** The demo's checkout. It verifies each event and keeps one copy for each event id. */
export interface DemoCheckout {
  url: string;
  events(): DemoEvent[];
  close(): Promise<void>;
}

interface CheckoutOptions {
  /** Default: a free port. */
  port?: number;
  /** Default: 127.0.0.1. */
  host?: string;
  /** Called once for each event. */
  onEvent?: (event: DemoEvent) => void;
}

export async function startDemoCheckout(secret: string, options: CheckoutOptions = {}): Promise<DemoCheckout> {
  const { port = 0, host = '127.0.0.1', onEvent } = options;
  const webhook = new Webhook(secret);
  const received = new Map<string, DemoEvent>();

  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    try {
      const body = await text(request);
      const payload = webhook.verify(body, request.headers as Record<string, string>) as Payload;
      const id = String(request.headers['webhook-id']);
      if (!received.has(id)) {
        const event = eventOf(payload);
        onEvent?.(event);
        received.set(id, event);
      }
      response.writeHead(204).end();
    } catch {
      response.writeHead(401).end();
    }
  };
  const server = createServer((request, response) => void receive(request, response));
  await once(server.listen(port, host), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`,
    events: () => [...received.values()],
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function eventOf({ type, data: { referenceId = '', lines = [] } }: Payload): DemoEvent {
  return { type, referenceId, keys: lines.flatMap(({ keys = [] }) => keys.map(({ value }) => value)) };
}
