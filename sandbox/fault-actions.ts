import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { Answers, Envelope } from './envelope';
import type { FaultAction } from './faults';
import { type Answer, rendered } from './http';

/** One call on its way to an answer. */
export interface Exchange {
  response: ServerResponse;
  socket: Socket;
  answers: Answers;
  /** Aborted as the sandbox closes. */
  closing: AbortSignal;
  /** Resolves when the faults are deleted. */
  untilDeleted: (signal: AbortSignal) => Promise<void>;
}

type Truncate = Extract<FaultAction, { type: 'truncate' }>;

/**
 * Does to a call what a fault says.
 *
 * @param normal the answer that the call would have had, if it has had its effect
 * @returns the answer to send, `'normal'` to go on as if nothing were wrong, or `'done'` if there is nothing left to send
 */
export async function performAction(
  action: FaultAction,
  exchange: Exchange,
  normal = exchange.answers.success({}),
): Promise<Answer | 'normal' | 'done'> {
  const { answers, response, socket, closing, untilDeleted } = exchange;
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
      return answers.error(action.status, 'scripted', 'this answer was asked for by a fault', action.headers);
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
      return answers.error(200, 'unsuccessful', 'this call did not succeed');
    case 'merge':
      return merged(normal, action.data);
  }
}

function merged(answer: Answer, data: Record<string, unknown>): Answer {
  const envelope = answer.body as Envelope;
  const details = { ...envelope.details, data: { ...envelope.details.data, ...data } };
  return { ...answer, body: { ...envelope, details } };
}

/** Written past Node's own response, which would see to it that the framing is right. */
function truncate({ bytes: kept, framing = 'content-length' }: Truncate, socket: Socket, answer: Answer): void {
  const { headers, bytes } = rendered(answer);
  const part = bytes.subarray(0, kept ?? Math.floor(bytes.length / 2));
  const framed = {
    'content-length': { header: `content-length: ${bytes.length}`, body: part },
    chunked: { header: 'transfer-encoding: chunked', body: chunk(part) },
    none: { header: 'connection: close', body: part },
  }[framing];
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.write([`HTTP/1.1 ${answer.status} Cut`, ...head, framed.header, '', ''].join('\r\n'));
  socket.end(framed.body);
}

/** One chunk, without the empty one that would say that it was the last. */
function chunk(part: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')]);
}

/** Until the connection ends. */
function repeat(socket: Socket, everyMs = 1_000, write: () => void): void {
  write();
  const timer = setInterval(write, everyMs);
  socket.once('close', () => clearInterval(timer));
}
