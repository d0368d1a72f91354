import { Agent, Client, type Dispatcher } from 'undici';
import { safeErrorCode } from '../domain/error-code';

/** One request as it goes onto the wire. `notAfter` (epoch ms) is compared with the clock at the moment of the write. */
export interface WireRequest {
  method: 'GET' | 'POST';
  path: string;
  headers: Record<string, string>;
  body?: Buffer;
  notAfter?: number;
}

export interface TransportLimits {
  /** From the start of connecting to the last byte of the body. */
  timeoutMs: number;
  maxBodyBytes: number;
  now: () => number;
}

interface Head {
  httpStatus: number;
  retryAfter: string | undefined;
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
}

type Failure = 'deadline' | 'connection' | 'too-late' | 'too-large';

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

  async function sendAlone(request: WireRequest): Promise<Exchange> {
    const client = new Client(origin, { ...quiet, pipelining: 0 });
    try {
      return await exchange(client, origin, request, limits);
    } finally {
      await client.destroy();
    }
  }

  return {
    send: (request: WireRequest) =>
      request.method === 'POST' ? sendAlone(request) : exchange(reads, origin, request, limits),
    close: () => reads.destroy(),
  };
}

function exchange(
  dispatcher: Dispatcher,
  origin: string,
  request: WireRequest,
  limits: TransportLimits,
): Promise<Exchange> {
  return new Promise((resolve) => {
    const handler = new ExchangeHandler(request.notAfter, limits, resolve);
    const { method, path, headers, body } = request;
    dispatcher.dispatch({ origin, method, path, headers, body: body ?? null }, handler);
  });
}

class ExchangeHandler implements Dispatcher.DispatchHandler {
  private sent = false;
  private settled = false;
  private controller: Dispatcher.DispatchController | undefined;
  private head: Head | undefined;
  private chunks: Buffer[] = [];
  private size = 0;
  private readonly deadline: NodeJS.Timeout;

  constructor(
    private readonly notAfter: number | undefined,
    private readonly limits: TransportLimits,
    private readonly resolve: (exchange: Exchange) => void,
  ) {
    this.deadline = setTimeout(() => this.giveUp('deadline'), limits.timeoutMs);
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
    if (this.notAfter !== undefined && this.limits.now() > this.notAfter) return this.giveUp('too-late');
    this.sent = true;
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Record<string, unknown>): void {
    if (status < 200) return;
    const retryAfter = headers['retry-after'];
    this.head = { httpStatus: status, retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined };
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.settled) return;
    this.size += chunk.length;
    const cap = isError(this.head) ? ERROR_BODY_BYTES : this.limits.maxBodyBytes;
    if (this.size > cap) return this.giveUp('too-large');
    this.chunks.push(chunk);
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
    const { head, sent } = this;
    // An error status says all that is needed; what became of its body does not matter.
    if (head && isError(head)) this.settle({ end: 'answered', ...head, body: undefined });
    else this.settle({ end: 'failed', why, sent, code, head });
  }

  private settle(exchange: Exchange): void {
    if (this.settled) return;
    this.settled = true;
    clearTimeout(this.deadline);
    this.chunks = [];
    this.resolve(exchange);
  }
}

function isError(head: Head | undefined): boolean {
  return head !== undefined && (head.httpStatus < 200 || head.httpStatus > 299);
}
