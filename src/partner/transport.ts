import type { Socket } from 'node:net';
import { Agent, buildConnector, Client, type Dispatcher } from 'undici';
import { safeErrorCode } from '../domain/error-code';
import { LongBodies, SHORT_BODY_BYTES } from './long-bodies';

/** One request as it goes onto the wire. `notAfter` (epoch ms) is compared with the clock at the moment of the write. */
export interface WireRequest {
  method: 'GET' | 'POST';
  path: string;
  headers: Record<string, string>;
  body?: Buffer;
  notAfter?: number;
  /** Only with POST. */
  beforeWrite?: BeforeWrite;
}

/**
 * Asked when the connection stands, and awaited before the request is written. Never throws, and ends within a deadline of
 * its own.
 *
 * @returns until when (epoch ms) the write is allowed, or why it is not, in safe words.
 */
export type BeforeWrite = () => Promise<{ writeBy: number } | { refused: string }>;

export interface TransportLimits {
  /** From the start of connecting to the last byte of the body. */
  timeoutMs: number;
  maxBodyBytes: number;
  now: () => number;
  /** Where the answers of all reads are bounded together. The answer to a placement must be read, and never waits. */
  longBodies?: LongBodies;
}

interface Head {
  httpStatus: number;
  retryAfter: string | undefined;
  /** The header `Date`. */
  date: string | undefined;
}

/** How one request ended. */
export type Exchange = AnsweredExchange | FailedExchange;

interface AnsweredExchange extends Head {
  end: 'answered';
  /** Absent where an error's body broke off or was too long. */
  body: Buffer | undefined;
}

export interface FailedExchange {
  end: 'failed';
  why: Failure;
  /** Whether the request was handed to the connection: from then on, the partner may have it. */
  sent: boolean;
  code: string | undefined;
  head: Head | undefined;
  /** With `withdrawn`: what `beforeWrite` said, or what happened meanwhile. */
  refusal?: string;
}

type Failure = 'deadline' | 'connection' | 'withdrawn' | 'too-late' | 'too-large';

// The bodies of errors are read only for their trace id.
const ERROR_BODY_BYTES = 64 * 1024;

/**
 * Sends requests to one origin: once each, no redirects, no HTTP/2. Reads share kept-alive connections; each POST gets a
 * connection of its own, since on a kept one a failure can't be told from the failure of the request before.
 */
export function openTransport(origin: string, limits: TransportLimits) {
  // Undici's timeouts restart with every 1xx and every byte, so a total deadline takes their place.
  const quiet = { headersTimeout: 0, bodyTimeout: 0, connectTimeout: limits.timeoutMs, allowH2: false };
  const reads = new Agent({ ...quiet, pipelining: 1 });
  const readLimits = { ...limits, longBodies: new LongBodies() };

  async function sendAlone(request: WireRequest): Promise<Exchange> {
    let client: Client | undefined;
    const open = (handler: ExchangeHandler) => {
      const connector = buildConnector({ timeout: limits.timeoutMs, allowH2: false });
      const connect = withPermission(connector, handler, request.beforeWrite);
      return (client = new Client(origin, { ...quiet, pipelining: 0, connect }));
    };
    try {
      return await exchange(open, origin, request, limits);
    } finally {
      await client?.destroy();
    }
  }

  return {
    send: (request: WireRequest) =>
      request.method === 'POST' ? sendAlone(request) : exchange(() => reads, origin, request, readLimits),
    close: () => reads.destroy(),
  };
}

function exchange(
  dispatcherFor: (handler: ExchangeHandler) => Dispatcher,
  origin: string,
  request: WireRequest,
  limits: TransportLimits,
): Promise<Exchange> {
  return new Promise((resolve) => {
    const handler = new ExchangeHandler(request.notAfter, limits, resolve);
    const { method, path, headers, body } = request;
    dispatcherFor(handler).dispatch({ origin, method, path, headers, body: body ?? null }, handler);
  });
}

/**
 * Hands a connection over only once `beforeWrite` has allowed the write: undici writes as soon as it has one. What takes long
 * (a name, TCP, TLS) is then behind, and next to nothing lies between the permission and the write.
 */
function withPermission(
  connector: buildConnector.connector,
  handler: ExchangeHandler,
  beforeWrite: BeforeWrite | undefined,
): buildConnector.connector {
  if (!beforeWrite) return connector;
  return (options, callback) => {
    const handOver = async (socket: Socket) => {
      const allowed = await handler.askPermission(beforeWrite, socket);
      // One that has broken meanwhile would be waited on in vain.
      if (allowed && !socket.destroyed) return callback(null, socket);
      socket.destroy();
      callback(new Error('given up'), null);
    };
    connector(options, (...[error, socket]) => (error ? callback(error, null) : void handOver(socket)));
  };
}

class ExchangeHandler implements Dispatcher.DispatchHandler {
  private sent = false;
  private settled = false;
  private controller: Dispatcher.DispatchController | undefined;
  private head: Head | undefined;
  private chunks: Buffer[] = [];
  private size = 0;
  private deadline: NodeJS.Timeout | undefined;
  private leaveLongBodies: (() => void) | undefined;

  constructor(
    private notAfter = Infinity,
    private readonly limits: TransportLimits,
    private readonly resolve: (exchange: Exchange) => void,
  ) {
    this.startDeadline();
  }

  /** The partner's time does not run while the permission is asked for. @returns whether the request may be written. */
  async askPermission(beforeWrite: BeforeWrite, socket: Socket): Promise<boolean> {
    if (this.settled || this.sent) return false;
    clearTimeout(this.deadline);
    const permission = await beforeWrite();
    if ('refused' in permission) return this.withdraw(permission.refused);
    const closed = closedWhileSilent(socket);
    if (closed !== undefined) return this.withdraw(closed);
    this.notAfter = Math.min(this.notAfter, permission.writeBy);
    this.startDeadline();
    return true;
  }

  /**
   * Undici calls this on a connected socket and writes the request right after, in the same turn, unless it was aborted
   * here. It is the last moment at which "not sent" is still certain.
   */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.settled) return controller.abort(new Error('given up'));
    // Undici puts a request that lost its connection back into its queue in some cases. Once is all that is allowed.
    if (this.sent) return this.giveUp('connection');
    if (this.limits.now() > this.notAfter) return this.giveUp('too-late');
    this.sent = true;
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Record<string, unknown>): void {
    if (status < 200) return;
    const header = (name: string) => (typeof headers[name] === 'string' ? headers[name] : undefined);
    this.head = { httpStatus: status, retryAfter: header('retry-after'), date: header('date') };
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.settled) return;
    this.size += chunk.length;
    const cap = isError(this.head) ? ERROR_BODY_BYTES : this.limits.maxBodyBytes;
    if (this.size > cap) return this.giveUp('too-large');
    this.chunks.push(chunk);
    if (this.size > SHORT_BODY_BYTES) this.waitForMemory(controller);
  }

  /** The partner sends no more while the connection is paused. The deadline goes on. */
  private waitForMemory(controller: Dispatcher.DispatchController): void {
    const { longBodies } = this.limits;
    if (!longBodies || this.leaveLongBodies) return;
    // Not within the callback of another answer: undici can't parse two at once.
    const { mayRead, leave } = longBodies.enter(() => void setImmediate(() => controller.resume()));
    this.leaveLongBodies = leave;
    if (!mayRead) controller.pause();
  }

  onResponseEnd(): void {
    if (this.head) this.settle({ end: 'answered', ...this.head, body: Buffer.concat(this.chunks) });
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.fail('connection', safeErrorCode(error));
  }

  private giveUp(why: Failure): void {
    this.fail(why, undefined);
    this.controller?.abort(new Error('given up'));
  }

  private fail(why: Failure, code: string | undefined): void {
    const { head } = this;
    // An error status says all that is needed; what became of its body does not matter.
    if (head && isError(head)) this.settle({ end: 'answered', ...head, body: undefined });
    else this.settle(this.failure(why, code));
  }

  private withdraw(refusal: string): false {
    this.settle({ ...this.failure('withdrawn', undefined), refusal });
    return false;
  }

  private failure(why: Failure, code: string | undefined): FailedExchange {
    const { head, sent } = this;
    return { end: 'failed', why, sent, code, head };
  }

  private startDeadline(): void {
    this.deadline = setTimeout(() => this.giveUp('deadline'), this.limits.timeoutMs);
  }

  private settle(exchange: Exchange): void {
    if (this.settled) return;
    this.settled = true;
    clearTimeout(this.deadline);
    this.leaveLongBodies?.();
    this.chunks = [];
    this.resolve(exchange);
  }
}

/**
 * A partner that works closes connections that stay silent, some with a 408, and the permission may take seconds. One that resets
 * them does not work.
 */
function closedWhileSilent({ readable, readableLength, errored }: Socket): string | undefined {
  const isClosed = !errored && (!readable || readableLength > 0);
  return isClosed ? 'not sent, the partner closed the connection before the permission was there' : undefined;
}

function isError(head: Head | undefined): boolean {
  return head !== undefined && (head.httpStatus < 200 || head.httpStatus > 299);
}
