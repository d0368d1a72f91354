import type { IncomingMessage, ServerResponse } from 'node:http';

/** What is sent in response to a call. A string body is sent unchanged, any other body as JSON. */
export interface Reply {
  status: number;
  headers?: Record<string, string>;
  body: unknown;
}

const MAX_BODY_BYTES = 1_048_576;

/** The request body is larger than any valid request. */
export class TooLarge extends Error {}

/** @throws TooLarge if the body is larger than 1 MiB */
export async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > MAX_BODY_BYTES) throw new TooLarge('the body is longer than 1 MiB');
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

export function send(response: ServerResponse, reply: Reply): void {
  if (response.destroyed || response.headersSent) return;
  const { headers, bytes } = rendered(reply);
  response.writeHead(reply.status, { ...headers, 'content-length': String(bytes.length) });
  response.end(bytes);
}

/** Returns the body as bytes, and the headers with a default content type. */
export function rendered(reply: Reply): { headers: Record<string, string>; bytes: Buffer } {
  const isText = typeof reply.body === 'string';
  const bytes = Buffer.from(isText ? (reply.body as string) : JSON.stringify(reply.body));
  const type = isText ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8';
  return { headers: { 'content-type': type, ...reply.headers }, bytes };
}
