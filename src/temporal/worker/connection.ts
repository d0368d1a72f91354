import { NativeConnection } from '@temporalio/worker';
import { type ConnectRetry, connectWithRetry, type TemporalTarget } from '../client';

/** How often the API key file is checked. */
const CHECK_KEY_EVERY_MS = 1_000;

/** @throws TemporalUnreachableError, TemporalConfigError, StoppedError */
export async function connectWorker(target: TemporalTarget, retry: ConnectRetry): Promise<NativeConnection> {
  const { apiKey, connectionOptions } = target;
  const connection = await connectWithRetry(target, retry, () => NativeConnection.connect(connectionOptions));
  if (apiKey) followApiKey(connection, apiKey, connectionOptions.apiKey);
  return connection;
}

/**
 * Keeps the API key of a native connection up to date. Unlike a client's connection, it can't read the API key from a
 * function.
 */
function followApiKey(connection: NativeConnection, apiKey: () => string, inUse: string | undefined): void {
  let current = inUse;
  const timer = setInterval(() => {
    const key = apiKey();
    if (key === current) return;
    current = key;
    // This fails once the connection is closed.
    connection.setApiKey(key).catch(() => clearInterval(timer));
  }, CHECK_KEY_EVERY_MS);
  timer.unref();
}
