import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { listen } from './listen';

/** A request as it arrived. `connection` counts the connections from 1. */
export interface Received {
  method: string;
  /** Path and query, as in the request line. */
  path: string;
  headers: IncomingMessage['headers'];
  body: Buffer;
  connection: number;
}

/**
 * What the server does with a request after reading all of it.
 *
 * - `json` or `body`: an ordinary response, status 200 unless said otherwise.
 * - `raw`: these bytes on the socket, then end it, reset it, or hold it open.
 * - `reset`: a TCP reset without a response. `hang`: nothing at all.
 * - a function: whatever it does to the socket.
 */
export type Reply =
  | { status?: number; headers?: Record<string, string | string[]>; json?: unknown; body?: string | Buffer }
  | { raw: string | Buffer; then?: 'end' | 'reset' | 'hold' }
  | 'reset'
  | 'hang'
  | ((socket: Socket, request: Received) => void | Promise<void>);

export type ScriptedServer = Awaited<ReturnType<typeof startServer>>;

export interface ScriptedServerOptions {
  /** Chooses the reply to each request, instead of `script`. */
  respond?: (request: Received) => Reply | Promise<Reply>;
  /** Runs before anything is read. */
  onConnection?: (socket: Socket) => void;
  tls?: { key: string; cert: string };
}

/** A real server on a free local port. It returns 500 until it is scripted. */
export async function startServer(options: ScriptedServerOptions = {}) {
  const sockets: Socket[] = [];
  const received: Received[] = [];
  let replies: Reply[] = [{ status: 500, body: 'not scripted' }];

  const onRequest = async (incoming: IncomingMessage, response: ServerResponse) => {
    const connection = sockets.findIndex((socket) => socket.remotePort === incoming.socket.remotePort) + 1;
    const request = await record(incoming, connection);
    if (!request) return;
    received.push(request);
    const next = replies.length > 1 ? replies.shift()! : replies[0]!;
    const reply = options.respond ? await options.respond(request) : next;
    await perform(reply, request, response, incoming.socket);
  };

  const server: Server = options.tls ? createTlsServer(options.tls, onRequest) : createServer(onRequest);
  server.on('connection', (socket) => {
    sockets.push(socket);
    options.onConnection?.(socket);
  });
  server.on('clientError', (_, socket) => socket.destroy());
  const listening = await listen(server);
  return {
    ...listening,
    url: `${options.tls ? 'https' : 'http'}://127.0.0.1:${listening.port}`,
    received,
    get connections() {
      return sockets.length;
    },
    /** The bytes received on all connections, including TLS handshakes. */
    bytesReceived: () => bytesOf(sockets),
    /** The replies to the next requests, in order. The last one is repeated. */
    script: (...given: Reply[]) => void (replies = given),
  };
}

/** A real TCP server without a protocol: only `onConnection` reads or writes. */
export async function startTcpServer(onConnection: (socket: Socket) => void = () => {}) {
  const sockets: Socket[] = [];
  const server = createTcpServer({ pauseOnConnect: true }, (socket) => {
    sockets.push(socket);
    onConnection(socket);
  });
  return {
    ...(await listen(server)),
    get connections() {
      return sockets.length;
    },
    bytesReceived: () => bytesOf(sockets),
  };
}

function bytesOf(sockets: Socket[]): number {
  return sockets.reduce((sum, socket) => sum + socket.bytesRead, 0);
}

/** Undefined if the client disconnected during its request. */
async function record(incoming: IncomingMessage, connection: number): Promise<Received | undefined> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
  } catch {
    return undefined;
  }
  const { method = '', url = '', headers } = incoming;
  return { method, path: url, headers, body: Buffer.concat(chunks), connection };
}

async function perform(reply: Reply, request: Received, response: ServerResponse, socket: Socket): Promise<void> {
  if (reply === 'hang') return;
  if (reply === 'reset') return void socket.resetAndDestroy();
  if (typeof reply === 'function') return reply(socket, request);
  if ('raw' in reply) return performRaw(reply.raw, reply.then ?? 'end', socket);
  const body = reply.json === undefined ? reply.body : JSON.stringify(reply.json);
  const type = reply.json === undefined ? 'text/html' : 'application/json';
  response.writeHead(reply.status ?? 200, { 'content-type': type, ...reply.headers });
  response.end(body ?? '');
}

async function performRaw(raw: string | Buffer, then: 'end' | 'reset' | 'hold', socket: Socket): Promise<void> {
  await new Promise((resolve) => socket.write(raw, resolve));
  if (then === 'end') socket.end();
  if (then === 'reset') socket.resetAndDestroy();
}
