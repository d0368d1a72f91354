import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

interface DeliveredEvent {
  type: string;
  data: { referenceId?: string; lines?: { keys?: { value: string }[] }[] };
}

/** The demo's checkout: it verifies each event and keeps it once, by its id. */
export interface DemoCheckout {
  url: string;
  events(): { id: string; type: string; referenceId: string; keys: string[] }[];
  close(): Promise<void>;
}

export async function startDemoCheckout(secret: string): Promise<DemoCheckout> {
  const webhook = new Webhook(secret);
  const received = new Map<string, DeliveredEvent>();

  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await bodyOf(request);
    try {
      const event = webhook.verify(body, request.headers as Record<string, string>) as DeliveredEvent;
      received.set(String(request.headers['webhook-id']), event);
      response.writeHead(204).end();
    } catch {
      response.writeHead(401).end();
    }
  };
  const server = createServer((request, response) => void receive(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`,
    events: () =>
      [...received].map(([id, { type, data }]) => ({
        id,
        type,
        referenceId: data.referenceId ?? '',
        keys: (data.lines ?? []).flatMap((line) => line.keys ?? []).map((key) => key.value),
      })),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
