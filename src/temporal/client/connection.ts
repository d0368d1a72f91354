import { setTimeout as sleep } from 'node:timers/promises';
import {
  Client,
  Connection,
  type ConnectionLike,
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
  type WorkflowClientInterceptor,
} from '@temporalio/client';
import { type ConnectionFailure, findConnectionFailure, refusedError } from './connection-failure';
import { type TemporalTarget, unusableSettings } from './target';

/** What the worker's connection accepts by default. */
const MAX_RESPONSE_BYTES = 128 * 1024 * 1024;

/** Temporal did not respond to any try. Exit code 69. */
export class TemporalUnreachableError extends Error {
  override readonly name = 'TemporalUnreachableError';
  readonly exitCode = 69;

  /** @param reason the message without advice. */
  constructor(
    message: string,
    readonly reason: string,
  ) {
    super(message);
  }
}

/** The process was told to stop before Temporal responded. Nothing was started, so the exit code is 0. */
export class StoppedError extends Error {
  override readonly name = 'StoppedError';
  readonly exitCode = 0;
}

export interface ConnectRetry {
  tries: number;
  /** The time from the start of one try to the start of the next, in ms. A slower try is abandoned. */
  everyMs: number;
  /** Called after each failed try but the last, with a line that names the cause. */
  onRetry(line: string): void;
  /** Stops the tries at once. */
  signal?: AbortSignal;
}

/** @throws TemporalUnreachableError, TemporalConfigError */
export async function connectClient(
  target: TemporalTarget,
  retry: ConnectRetry,
  interceptors: WorkflowClientInterceptor[] = [],
): Promise<Client> {
  const connection = await connectWithRetry(target, retry, () => connectOnce(target, retry.everyMs));
  return createClient(connection, target.namespace, interceptors);
}

/**
 * Creates a client with our own converter. With the SDK's, a list breaks off at the first memo that can't be decoded.
 */
export function createClient(
  connection: ConnectionLike,
  namespace: string,
  interceptors: WorkflowClientInterceptor[] = [],
): Client {
  const payloadConverterPath = require.resolve('../../contracts/payload-converter');
  const dataConverter = { payloadConverterPath };
  return new Client({ connection, namespace, dataConverter, interceptors: { workflow: interceptors } });
}

/** `Connection.connect` and retried calls hide the cause until they time out. So the first call is not retried. */
async function connectOnce({ connectionOptions, apiKey }: TemporalTarget, timeoutMs: number): Promise<Connection> {
  let responded = false;
  const retry = defaultGrpcRetryOptions();
  const interceptor = makeGrpcRetryInterceptor({
    ...retry,
    retryableDecider: (attempt, status) => responded && retry.retryableDecider(attempt, status),
  });
  // The SDK means to set this limit, but under a name that grpc-js does not know: then it is 4 MiB.
  const channelArgs = { 'grpc.max_receive_message_length': MAX_RESPONSE_BYTES };
  const options = { ...connectionOptions, channelArgs, apiKey: apiKey ?? connectionOptions.apiKey };
  const connection = Connection.lazy({ ...options, interceptors: [interceptor] });
  try {
    await connection.withDeadline(Date.now() + timeoutMs, () => connection.workflowService.getSystemInfo({}));
  } catch (error) {
    await connection.close();
    throw error;
  }
  responded = true;
  return connection;
}

/**
 * Connects with retries. A connection that arrives after its try has ended is closed. A TypeError means invalid
 * options.
 * @throws TemporalUnreachableError, TemporalConfigError, StoppedError
 */
export async function connectWithRetry<T extends { close(): Promise<void> }>(
  target: TemporalTarget,
  { tries, everyMs, onRetry, signal }: ConnectRetry,
  connect: () => Promise<T>,
): Promise<T> {
  const { address } = target;
  for (let attempt = 1; ; attempt++) {
    const done = new AbortController();
    const stop = () => done.abort();
    signal?.addEventListener('abort', stop);
    if (signal?.aborted) stop();
    const rest = delay(everyMs, done.signal, signal);
    const connecting = connect();
    let isConnected = false;
    try {
      const failing = connecting.then(
        () => undefined,
        (error: unknown) => connectFailure(error, target, everyMs),
      );
      const failure = await Promise.race([failing, rest.then(() => NO_RESPONSE)]);
      isConnected = !failure;
      if (!failure) return await connecting;
      if (failure.refused) throw refusedError(` at ${address}`, failure);
      if (attempt >= tries) {
        const reason = `cannot connect to ${address}: ${failure.cause}`;
        throw new TemporalUnreachableError(unreachableMessage(address, attempt, failure), reason);
      }
      onRetry(`Temporal does not respond at ${address}, try ${attempt} of ${tries}: ${failure.cause}`);
      await rest;
    } finally {
      signal?.removeEventListener('abort', stop);
      done.abort();
      if (!isConnected) connecting.then((late) => late.close()).catch(() => undefined);
    }
  }
}

const NO_RESPONSE: ConnectionFailure = { cause: 'no response', refused: false };

async function connectFailure(error: unknown, target: TemporalTarget, timeoutMs: number): Promise<ConnectionFailure> {
  if (error instanceof TypeError) throw unusableSettings(error.message);
  return findConnectionFailure(target, timeoutMs);
}

function unreachableMessage(address: string, tries: number, { cause, remedy }: ConnectionFailure): string {
  return (
    `Temporal does not respond at ${address} (${tries === 1 ? '1 try' : `${tries} tries`}): ${cause}. ` +
    `${remedy === undefined ? '' : `${remedy} `}Is the server running, and is TEMPORAL_ADDRESS correct? ` +
    '`npm run temporal -- server start-dev` starts a local server; `npm run demo` starts its own.'
  );
}

/**
 * Ends early when `done` is aborted.
 * @throws StoppedError if `stop` is aborted by then
 */
async function delay(ms: number, done: AbortSignal, stop?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal: done }).catch(() => undefined);
  if (stop?.aborted) throw new StoppedError('stopped before Temporal responded');
}
