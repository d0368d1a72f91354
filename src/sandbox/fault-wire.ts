import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { rendered, type Answer, type Answers, type Envelope } from './answer';
import type { Timers } from './clock';
import type { FaultAction } from './faults';

const A_SECOND = 1_000;

/** One call on its way to an answer. */
export interface Exchange {
  response: ServerResponse;
  socket: Socket;
  timers: Timers;
  answers: Answers;
}

/**
 * Does to a call what a fault says.
 *
 * @param plain the answer that the call would have had, if it has had its effect
 * @returns the answer to send, `'plain'` to go on as if nothing were wrong, or `'done'` if there is nothing left to send
 */
export async function act(action: FaultAction, exchange: Exchange, plain?: Answer): Promise<Answer | 'plain' | 'done'> {
  const { answers, timers } = exchange;
  const answer = plain ?? answers.success({});
  switch (action.type) {
    case 'hang':
      return 'done';
    case 'delay':
      await new Promise<void>((resolve) => timers.after(action.ms, resolve));
      return 'plain';
    case 'reset':
      exchange.socket.resetAndDestroy();
      return 'done';
    case 'close':
      exchange.socket.end();
      return 'done';
    case 'answer':
      return scripted(action, answers);
    case 'truncate':
      truncate(action, exchange, answer);
      return 'done';
    case 'drip':
      exchange.response.writeHead(200, { 'content-type': 'application/json' });
      repeat(exchange, action.everyMs, () => exchange.response.write(' '));
      return 'done';
    case 'informational':
      repeat(exchange, action.everyMs, () => exchange.response.writeProcessing());
      return 'done';
    case 'body':
      return { status: 200, headers: { 'content-type': action.contentType ?? 'application/json' }, body: action.text };
    case 'unsuccessful':
      return answers.error(200, 'unsuccessful', 'this call did not succeed');
    case 'merge':
      return merged(answer, action.data);
  }
}

export function send(response: ServerResponse, answer: Answer): void {
  if (response.destroyed || response.headersSent) return;
  const { headers, bytes } = rendered(answer);
  response.writeHead(answer.status, { ...headers, 'content-length': String(bytes.length) });
  response.end(bytes);
}

function scripted(action: Extract<FaultAction, { type: 'answer' }>, answers: Answers): Answer {
  if (action.body !== undefined) return { status: action.status, headers: action.headers, body: action.body };
  return answers.error(action.status, 'scripted', 'this answer was asked for by a fault', action.headers);
}

function merged(answer: Answer, data: Record<string, unknown>): Answer {
  const envelope = answer.body as Envelope;
  const details = { ...envelope.details, data: { ...envelope.details.data, ...data } };
  return { ...answer, body: { ...envelope, details } };
}

/** Written past Node's own response, which would see to it that the framing is right. */
function truncate(
  { bytes: kept, framing = 'content-length' }: Extract<FaultAction, { type: 'truncate' }>,
  { socket }: Exchange,
  answer: Answer,
): void {
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

function repeat({ socket, timers }: Exchange, everyMs = A_SECOND, write: () => void): void {
  write();
  socket.once('close', timers.every(everyMs, write));
}
