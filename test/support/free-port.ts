import { createServer } from 'node:net';

const given = new Set<number>();

/** A port that was free a moment ago. Never returns the same port twice, because its caller may not be using it yet. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  if (given.has(port)) return freePort();
  given.add(port);
  return port;
}
