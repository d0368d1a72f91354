import { NativeConnection } from '@temporalio/worker';
import { type ConnectRetry, connectWithRetry, type TemporalTarget } from '../client';

/** How often the file of an API key is checked. */
const CHECK_KEY_EVERY_MS = 1_000;

/** Connects a worker. @throws TemporalUnreachableError, TemporalConfigError, StoppedError */
export async function connectWorker(target: TemporalTarget, retry: ConnectRetry): Promise<NativeConnection> {
  const { apiKey, connectionOptions } = target;
  const connection = await connectWithRetry(target, retry, () => NativeConnection.connect(connectionOptions));
  if (apiKey) followApiKey(connection, apiKey, connectionOptions.apiKey);
  return connection;
}

/** A native connection can't ask for its key, as a client's can, so it is given each new one. */
function followApiKey(connection: NativeConnection, apiKey: () => string, inUse: string | undefined): void {
  let current = inUse;
  const timer = setInterval(() => {
    const key = apiKey();
    if (key === current) return;
    current = key;
    // It refuses once it is closed.
    connection.setApiKey(key).catch(() => clearInterval(timer));
  }, CHECK_KEY_EVERY_MS);
  timer.unref();
}
