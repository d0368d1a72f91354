import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** The system hands out the ports above to programs that ask for any port, so one could be taken before its use. */
const BELOW_EPHEMERAL = { from: 20_000, to: 32_000 };
const given = new Set<number>();

/** A port that was free a moment ago, and that only a test which asks here will get. Returns none twice. */
export async function freePort(): Promise<number> {
  const port = randomInt(BELOW_EPHEMERAL.from, BELOW_EPHEMERAL.to);
  if (given.has(port) || !(await isFree(port))) return freePort();
  given.add(port);
  return port;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
