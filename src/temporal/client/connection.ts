import { setTimeout as sleep } from 'node:timers/promises';
import {
  Client,
  Connection,
  type ConnectionLike,
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
  type WorkflowClientInterceptor,
} from '@temporalio/client';
import { type ConnectionFailure, connectionFailureOf, TemporalRefusedError } from './connection-failure';
import { TemporalConfigError, type TemporalTarget } from './target';

/** Temporal did not answer any of the tries. Exit code 69. */
export class TemporalUnreachableError extends Error {
  readonly exitCode = 69;

  constructor(address: string, tries: number, { cause, remedy }: ConnectionFailure) {
    super(
      `Temporal does not answer at ${address} (${tries === 1 ? '1 try' : `${tries} tries`}): ${cause}. ${remedy}` +
        'Is the server up? TEMPORAL_ADDRESS says where it is; ' +
        '`temporal server start-dev` starts one, `npm run demo` brings its own.',
    );
    this.name = 'TemporalUnreachableError';
  }
}

/** The process was told to stop before Temporal answered. Nothing was begun, so this is no error: exit code 0. */
export class StoppedError extends Error {
  readonly exitCode = 0;

  constructor() {
    super('stopped before Temporal answered');
    this.name = 'StoppedError';
  }
}

export interface ConnectRetry {
  tries: number;
  /** From the start of one try to the start of the next, in ms. A try that takes longer is given up. */
  everyMs: number;
  /** Called after each failed try except the last. The line names the cause. */
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
  return createClient(connection, target.namespace, interceptors);
}

/** The client of our own processes. With the SDK's converter, a list would end at the first memo that can't be decoded. */
export function createClient(
  connection: ConnectionLike,
  namespace: string,
  interceptors: WorkflowClientInterceptor[] = [],
): Client {
  const payloadConverterPath = require.resolve('../../contracts/payload-converter');
  const dataConverter = { payloadConverterPath };
  return new Client({ connection, namespace, dataConverter, interceptors: { workflow: interceptors } });
}

/**
 * Like `Connection.connect`, which no longer knows the cause when its time is over; a call of our own names it. Calls are retried
 * only after the first answer, because a retry hides the cause too.
 */
async function connectOnce({ connectionOptions, apiKey }: TemporalTarget, withinMs: number): Promise<Connection> {
  let answered = false;
  const retry = defaultGrpcRetryOptions();
  const interceptor = makeGrpcRetryInterceptor({
    ...retry,
    retryableDecider: (attempt, status) => answered && retry.retryableDecider(attempt, status),
  });
  const options = { ...connectionOptions, apiKey: apiKey ?? connectionOptions.apiKey };
  const connection = Connection.lazy({ ...options, interceptors: [interceptor] });
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
 * Connects, with up to `tries` tries. A connection that is made after its try was given up is closed.
 *
 * @param connect one try; it throws a TypeError if the options can't be used.
 * @throws TemporalUnreachableError, TemporalRefusedError, TemporalConfigError, StoppedError
 */
export async function connectWithRetry<T extends Closable>(
  { address, connectionOptions }: TemporalTarget,
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
      const why = failure === undefined ? NO_ANSWER : connectionFailureOf(failure, Boolean(connectionOptions.tls));
      if (why.refused) throw new TemporalRefusedError(` at ${address}`, why);
      if (attempt >= tries) throw new TemporalUnreachableError(address, attempt, why);
      onRetry(`Temporal does not answer at ${address}, try ${attempt} of ${tries}: ${why.cause}`);
      await rest;
      if (signal?.aborted) throw new StoppedError();
    } finally {
      done.abort();
    }
  }
}

const NO_ANSWER: ConnectionFailure = { cause: 'no answer', refused: false, remedy: '' };

interface Tried<T> {
  connection?: T;
  failure?: unknown;
}

/** The connection, or the failure, or neither if it takes too long; a late connection is closed. */
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

/** Ends early if the signal is aborted. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}
