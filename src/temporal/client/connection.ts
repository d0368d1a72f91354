import { setTimeout as sleep } from 'node:timers/promises';
import {
  Client,
  Connection,
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
  type WorkflowClientInterceptor,
} from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { connectionFailureOf, TemporalRefusedError } from './connection-failure';

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

  constructor(address: string, tries: number, cause: string) {
    super(
      `Temporal does not answer at ${address} (${tries === 1 ? '1 try' : `${tries} tries`}): ${cause}. Is the server up? TEMPORAL_ADDRESS says where it is; ` +
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
  /** Called after each try that failed, but for the last. The line names the cause. */
  onRetry(line: string): void;
  /** Ends the trying at once. */
  signal?: AbortSignal;
}

/** Connects a client, for the starter. @throws TemporalUnreachableError, TemporalRefusedError, TemporalConfigError */
export async function connectClient(
  target: TemporalTarget,
  retry: ConnectRetry,
  interceptors: WorkflowClientInterceptor[] = [],
): Promise<Client> {
  const connection = await connectWithRetry(target, retry, () => connectOnce(target, retry.everyMs));
  return new Client({ connection, namespace: target.namespace, interceptors: { workflow: interceptors } });
}

/**
 * Calls the server once, as `Connection.connect` does. That waits for a connection until its time is over and then no longer
 * knows why there was none; a call says so. It is repeated only after the first answer, since repeating hides the cause, too.
 */
async function connectOnce({ connectionOptions }: TemporalTarget, withinMs: number): Promise<Connection> {
  let answered = false;
  const retry = defaultGrpcRetryOptions();
  const interceptor = makeGrpcRetryInterceptor({
    ...retry,
    retryableDecider: (attempt, status) => answered && retry.retryableDecider(attempt, status),
  });
  const connection = Connection.lazy({ ...connectionOptions, interceptors: [interceptor] });
  try {
    await connection.withDeadline(Date.now() + withinMs, () => connection.workflowService.getSystemInfo({}));
  } catch (error) {
    await connection.close();
    throw error;
  }
  answered = true;
  return connection;
}

type Closable = { close(): Promise<void> };

/**
 * Connects, and tries again until `tries` are used up. A connection that comes after its try was given up is closed.
 *
 * @param connect one try; a TypeError of it means that its options can't be used.
 * @throws TemporalUnreachableError, TemporalRefusedError, TemporalConfigError, StoppedError
 */
export async function connectWithRetry<T extends Closable>(
  { address }: TemporalTarget,
  { tries, everyMs, onRetry, signal }: ConnectRetry,
  connect: () => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const done = new AbortController();
    const rest = pause(everyMs, AbortSignal.any([done.signal, ...(signal ? [signal] : [])]));
    try {
      const { connection, failure } = await firstOf(connect(), rest);
      if (connection) return connection;
      if (signal?.aborted) throw new StoppedError();
      const { cause, refused } = failure === undefined ? NO_ANSWER : connectionFailureOf(failure);
      if (refused) throw new TemporalRefusedError(` at ${address}`, cause);
      if (attempt >= tries) throw new TemporalUnreachableError(address, attempt, cause);
      onRetry(`Temporal does not answer at ${address}, try ${attempt} of ${tries}: ${cause}`);
      await rest;
      if (signal?.aborted) throw new StoppedError();
    } finally {
      done.abort();
    }
  }
}

const NO_ANSWER = { cause: 'no answer', refused: false };

interface Tried<T> {
  connection?: T;
  failure?: unknown;
}

/** The connection, or why there is none, or neither when it took too long; one that comes later is closed again. */
async function firstOf<T extends Closable>(connecting: Promise<T>, tooLong: Promise<void>): Promise<Tried<T>> {
  let late = false;
  const attempt = connecting.then(
    (connection): Tried<T> => {
      if (late) void connection.close();
      return { connection };
    },
    (failure: unknown): Tried<T> => {
      if (failure instanceof TypeError) throw new TemporalConfigError(failure.message);
      return { failure };
    },
  );
  const tried = await Promise.race([attempt, tooLong.then((): Tried<T> => ({}))]);
  late = tried.connection === undefined;
  return tried;
}

/** Ends early when the signal is aborted. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}
