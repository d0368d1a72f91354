import { Client, Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { NativeConnection } from '@temporalio/worker';

/** Where Temporal is. Source: Temporal's own environment convention, read by `@temporalio/envconfig`. */
export interface TemporalTarget {
  address: string;
  namespace: string;
  connectionOptions: ReturnType<typeof loadClientConnectConfig>['connectionOptions'];
}

/** Temporal did not answer for as long as we were willing to ask. Exit code 69. */
export class TemporalUnreachableError extends Error {
  readonly exitCode = 69;

  constructor(address: string, tries: number) {
    super(
      `Temporal does not answer at ${address} (${tries} tries). Is the server up? TEMPORAL_ADDRESS says where it is; ` +
        '`temporal server start-dev` starts one, `npm run demo` brings its own.',
    );
    this.name = 'TemporalUnreachableError';
  }
}

/**
 * Reads where Temporal is from `TEMPORAL_ADDRESS`, `TEMPORAL_NAMESPACE`, `TEMPORAL_API_KEY`, `TEMPORAL_TLS…`,
 * `TEMPORAL_PROFILE` and its file.
 *
 * @throws Error when the file or a variable can't be used; the message names it.
 */
export function readTemporalTarget(): TemporalTarget {
  const { connectionOptions, namespace } = loadClientConnectConfig();
  const address = connectionOptions.address ?? 'localhost:7233';
  return { address, namespace: namespace ?? 'default', connectionOptions: { ...connectionOptions, address } };
}

export interface Patience {
  /** How often it is tried, and the pause between two tries in ms. */
  tries: number;
  pauseMs: number;
  /** Called before each further try. */
  onRetry(line: string): void;
}

/** Connects a worker. @throws TemporalUnreachableError */
export function connectWorker(target: TemporalTarget, patience: Patience): Promise<NativeConnection> {
  return persist(target, patience, () => NativeConnection.connect(target.connectionOptions));
}

/** Connects a client, for the starter. @throws TemporalUnreachableError */
export async function connectClient(target: TemporalTarget, patience: Patience): Promise<Client> {
  const connection = await persist(target, patience, () =>
    Connection.connect({ ...target.connectionOptions, connectTimeout: '5s' }),
  );
  return new Client({ connection, namespace: target.namespace });
}

async function persist<T>(target: TemporalTarget, patience: Patience, connect: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await connect();
    } catch (error) {
      if (error instanceof TypeError) throw error;
      if (attempt >= patience.tries) throw new TemporalUnreachableError(target.address, attempt);
      patience.onRetry(`Temporal does not answer at ${target.address}, try ${attempt} of ${patience.tries}`);
      await new Promise((resolve) => setTimeout(resolve, patience.pauseMs));
    }
  }
}
