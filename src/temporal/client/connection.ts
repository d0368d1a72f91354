import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';

/** Where Temporal is. Source: Temporal's own environment convention, read by `@temporalio/envconfig`. */
export interface TemporalTarget {
  address: string;
  namespace: string;
  connectionOptions: ReturnType<typeof loadClientConnectConfig>['connectionOptions'];
}

/** Temporal's own settings can't be used. Exit code 78. */
export class TemporalConfigError extends Error {
  readonly exitCode = 78;

  constructor(why: string) {
    super(`Temporal's settings (TEMPORAL_…, or the file that TEMPORAL_CONFIG_FILE names) can't be used: ${why}`);
    this.name = 'TemporalConfigError';
  }
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

/** Asked to stop before Temporal answered. Nothing was begun, so that is no error: exit code 0. */
export class StoppedError extends Error {
  readonly exitCode = 0;

  constructor() {
    super('stopped before Temporal answered');
    this.name = 'StoppedError';
  }
}

/**
 * Reads where Temporal is from `TEMPORAL_ADDRESS`, `TEMPORAL_NAMESPACE`, `TEMPORAL_API_KEY`, `TEMPORAL_TLS…`,
 * `TEMPORAL_PROFILE` and its file.
 *
 * @throws TemporalConfigError when the file or a variable can't be used.
 */
export function readTemporalTarget(): TemporalTarget {
  try {
    const { connectionOptions, namespace } = loadClientConnectConfig();
    const address = connectionOptions.address ?? 'localhost:7233';
    return { address, namespace: namespace ?? 'default', connectionOptions: { ...connectionOptions, address } };
  } catch (error) {
    // Below its first line the message of the TOML parser quotes the file, and with it a key.
    const [why = ''] = error instanceof Error ? error.message.split('\n', 1) : ['unreadable'];
    throw new TemporalConfigError(why);
  }
}

export interface ConnectRetry {
  tries: number;
  /** From the start of one try to the start of the next, in ms. A try that takes longer is given up. */
  everyMs: number;
  /** Called after each try that failed, but for the last. */
  onRetry(line: string): void;
  /** Ends the trying at once. */
  signal?: AbortSignal;
}

/** Connects a client, for the starter. @throws TemporalUnreachableError, TemporalConfigError */
export async function connectClient(target: TemporalTarget, retry: ConnectRetry): Promise<Client> {
  const connection = await connectWithRetry(target, retry, () =>
    Connection.connect({ ...target.connectionOptions, connectTimeout: retry.everyMs }),
  );
  return new Client({ connection, namespace: target.namespace });
}

type Closable = { close(): Promise<void> };

/**
 * Connects, and tries again until `tries` are used up. A connection that comes after its try was given up is closed.
 *
 * @param connect one try; a TypeError of it means that its options can't be used.
 * @throws TemporalUnreachableError, TemporalConfigError, StoppedError
 */
export async function connectWithRetry<T extends Closable>(
  { address }: TemporalTarget,
  { tries, everyMs, onRetry, signal }: ConnectRetry,
  connect: () => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const done = new AbortController();
    const rest = pause(everyMs, AbortSignal.any([done.signal, ...(signal ? [signal] : [])]));
    const connection = await firstOf(connect(), rest);
    if (connection) {
      done.abort();
      return connection;
    }
    if (signal?.aborted) throw new StoppedError();
    if (attempt >= tries) throw new TemporalUnreachableError(address, attempt);
    onRetry(`Temporal does not answer at ${address}, try ${attempt} of ${tries}`);
    await rest;
    if (signal?.aborted) throw new StoppedError();
  }
}

/** The connection, or undefined when it failed or took too long; one that comes later is closed again. */
async function firstOf<T extends Closable>(connecting: Promise<T>, tooLong: Promise<void>): Promise<T | undefined> {
  let late = false;
  const attempt = connecting.then(
    (connection) => {
      if (late) void connection.close();
      return connection;
    },
    (error: unknown) => {
      if (error instanceof TypeError) throw new TemporalConfigError(error.message);
      return undefined;
    },
  );
  const connection = await Promise.race([attempt, tooLong.then(() => undefined)]);
  late = connection === undefined;
  return connection;
}

/** Ends early when the signal is aborted. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}
