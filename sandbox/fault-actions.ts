import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { FaultAction } from './faults';
import { rendered, type Reply } from './http';
import type { Envelope, Responses } from './responses';

/** A call without a response so far. */
export interface Exchange {
  response: ServerResponse;
  socket: Socket;
  responses: Responses;
  /** Aborted when the sandbox closes. */
  closing: AbortSignal;
  /** Resolves when the faults are deleted. */
  untilDeleted: (signal: AbortSignal) => Promise<void>;
}

type Truncate = Extract<FaultAction, { type: 'truncate' }>;

/**
 * Applies a fault to a call.
 *
 * @param normal the normal reply, if the call has already taken effect
 * @returns the reply to send, `'normal'` to continue without a fault, or `'done'` if nothing is left to send
 */
export async function performAction(
  action: FaultAction,
  exchange: Exchange,
  normal = exchange.responses.success({}),
): Promise<Reply | 'normal' | 'done'> {
  const { responses, response, socket, closing, untilDeleted } = exchange;
  switch (action.type) {
    case 'hang':
      return 'done';
    case 'delay':
      await setTimeout(action.ms, undefined, { signal: closing });
      return 'normal';
    case 'wait':
      await untilDeleted(closing);
      return 'normal';
    case 'reset':
      socket.resetAndDestroy();
      return 'done';
    case 'close':
      socket.end();
      return 'done';
    case 'answer':
      if (action.body !== undefined) return { status: action.status, headers: action.headers, body: action.body };
      return responses.error(action.status, 'scripted', 'a fault requested this response', action.headers);
    case 'truncate':
      truncate(action, socket, normal);
      return 'done';
    case 'drip':
      response.writeHead(200, { 'content-type': 'application/json' });
      repeat(socket, action.everyMs, () => response.write(' '));
      return 'done';
    case 'informational':
      repeat(socket, action.everyMs, () => response.writeProcessing());
      return 'done';
    case 'body':
      return { status: 200, headers: { 'content-type': action.contentType ?? 'application/json' }, body: action.text };
    case 'unsuccessful':
      return responses.error(200, 'unsuccessful', 'a fault made this call unsuccessful');
    case 'merge':
      return merged(normal, action.data);
  }
}

function merged(reply: Reply, data: Record<string, unknown>): Reply {
  const envelope = reply.body as Envelope;
  const details = { ...envelope.details, data: { ...envelope.details.data, ...data } };
  return { ...reply, body: { ...envelope, details } };
}

/** Writes to the socket directly, because Node's response would correct the framing. */
function truncate({ bytes: kept, framing = 'content-length' }: Truncate, socket: Socket, reply: Reply): void {
  const { headers, bytes } = rendered(reply);
  const part = bytes.subarray(0, kept ?? Math.floor(bytes.length / 2));
  const framed = {
    'content-length': { header: `content-length: ${bytes.length}`, body: part },
    chunked: { header: 'transfer-encoding: chunked', body: chunk(part) },
    none: { header: 'connection: close', body: part },
  }[framing];
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.write([`HTTP/1.1 ${reply.status} Cut`, ...head, framed.header, '', ''].join('\r\n'));
  socket.end(framed.body);
}

/** Encodes one chunk, without the empty chunk that would end the message. */
function chunk(part: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')]);
}

/** Repeats `write` until the connection closes. */
function repeat(socket: Socket, everyMs = 1_000, write: () => void): void {
  write();
  const timer = setInterval(write, everyMs);
  socket.once('close', () => clearInterval(timer));
}
