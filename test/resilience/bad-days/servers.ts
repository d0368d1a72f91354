import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryFolder } from '../../support/clean-up';
import { type DevServer, startDevServer } from '../../support/dev-server';

export type DayServer = Awaited<ReturnType<typeof startDayServer>>;

/**
 * A Temporal server with its data in a file. One with its data in memory loses all of it when a busy machine delays it.
 */
export async function startDayServer() {
  const dbFile = join(temporaryFolder(), 'temporal.db');
  let server: DevServer = await startDevServer({ dbFile });
  const { address } = server;
  const port = Number(new URL(`http://${address}`).port);
  return {
    address,
    /** Kills the server, and starts it again with the data in its file. */
    async restart(awayMs: number) {
      await server.stop('SIGKILL');
      await sleep(awayMs);
      server = await startDevServer({ port, dbFile });
    },
    stop: () => server.stop('SIGKILL'),
  };
}

/** Each day leaves a namespace that keeps its server busy. */
const DAYS_OF_A_SERVER = 40;

export type WithServer = ReturnType<typeof sharedServers>;

/**
 * @returns a function that gives a day a server shared with some other days, and stops the server after the last of
 * them
 */
export function sharedServers() {
  let current: Promise<{ server: DayServer; users: number }>;
  let begun = 0;
  return async <T>(live: (address: string) => Promise<T>): Promise<T> => {
    if (begun++ % DAYS_OF_A_SERVER === 0) {
      current = startDayServer().then((server) => ({ server, users: DAYS_OF_A_SERVER }));
    }
    const shared = await current;
    try {
      return await live(shared.server.address);
    } finally {
      shared.users -= 1;
      if (shared.users === 0) await shared.server.stop();
    }
  };
}
