import type { IncomingMessage } from 'node:http';

const MOST = 1_048_576;

/** More than a request of this interface can need. */
export class TooLarge extends Error {}

/** @throws TooLarge above 1 MiB */
export async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > MOST) throw new TooLarge('the body is longer than 1 MiB');
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}
