import type { Socket } from 'node:net';
import { Agent, buildConnector, Client, type Dispatcher } from 'undici';
import { safeErrorCode } from '../domain/presentable';
import { parseRetryAfter } from '../domain/retry-after';
import { PartnerError, type PartnerErrorFacts, type PartnerErrorKind, type PartnerOperation } from './errors';

export interface WireRequest {
  operation: PartnerOperation;
  method: 'GET' | 'POST';
  path: string;
  headers: Record<string, string>;
  body?: Buffer;
  /** Epoch ms: if the write comes later by the clock, nothing is sent (`too-late`). */
  notAfter?: number;
  /** Only with POST. If it refuses, nothing is sent (`withdrawn`). */
  beforeWrite?: BeforeWrite;
}

/**
 * Asked once the connection is up, before the request is written. It never throws and has a deadline of its own. It answers
 * until when (epoch ms) the write is allowed, or why it is not, in words that are safe to log.
 */
export type BeforeWrite = () => Promise<{ writeBy: number } | { refused: string }>;

export interface TransportLimits {
  /** From the start of connecting to the last byte of the body. */
  timeoutMs: number;
  maxBodyBytes: number;
  now: () => number;
}

export interface WireAnswer {
  httpStatus: number;
  retryAfterMs: number | undefined;
  /** The header `Date`, epoch ms. */
  sentAtMs: number | undefined;
  /** Absent if the body of an error broke off or was too long. */
  body: Buffer | undefined;
}

/** The bodies of errors are read only for their trace id. */
const ERROR_BODY_BYTES = 64 * 1024;

/**
 * Sends requests to one origin: once each, no redirects, no HTTP/2. Reads share kept-alive connections. Each POST has its own:
 * on a kept one its failure can't be told from that of the request before.
 */
export function openTransport(origin: string, limits: TransportLimits) {
  const { timeoutMs } = limits;
  // Undici's timeouts begin anew with every 1xx and every byte. A total deadline takes their place.
  const options = { headersTimeout: 0, bodyTimeout: 0, allowH2: false };
  const reads = new Agent({ ...options, connectTimeout: timeoutMs, pipelining: 1 });
  const connector = buildConnector({ timeout: timeoutMs, allowH2: false });

  /** @throws PartnerError if no whole answer came */
  async function send(request: WireRequest): Promise<WireAnswer> {
    const { method, path, headers, body } = request;
    let own: Client | undefined;
    try {
      return await new Promise((resolve, reject) => {
        const handler = new ExchangeHandler(request, limits, resolve, reject);
        const connect = withPermission(connector, handler);
        if (method === 'POST') own = new Client(origin, { ...options, pipelining: 0, connect });
        (own ?? reads).dispatch({ origin, method, path, headers, body: body ?? null }, handler);
      });
    } finally {
      await own?.destroy();
    }
  }

  return { send, close: () => reads.destroy() };
}

/**
 * Hands a connection over only once the write is allowed, because undici writes as soon as it has one. The slow part (name, TCP,
 * TLS) is then done, and almost nothing lies between the permission and the write.
 */
function withPermission(connector: buildConnector.connector, handler: ExchangeHandler): buildConnector.connector {
  return (options, callback) => {
    const handOver = async (socket: Socket) => {
      if (await handler.mayWriteTo(socket)) return callback(null, socket);
      socket.destroy();
      callback(new Error('given up'), null);
    };
    connector(options, (...[error, socket]) => (error ? callback(error, null) : void handOver(socket)));
  };
}

class ExchangeHandler implements Dispatcher.DispatchHandler {
  /** Whether the request was handed to the connection. From then on the partner may have it. */
  private sent = false;
  private settled = false;
  private notAfter: number;
  private controller: Dispatcher.DispatchController | undefined;
  private head: Omit<WireAnswer, 'body'> | undefined;
  private isError = false;
  private chunks: Buffer[] = [];
  private size = 0;
  private deadline: NodeJS.Timeout | undefined;

  constructor(
    private readonly request: WireRequest,
    private readonly limits: TransportLimits,
    private readonly resolve: (answer: WireAnswer) => void,
    private readonly reject: (error: PartnerError) => void,
  ) {
    this.notAfter = request.notAfter ?? Infinity;
    this.startDeadline();
  }

  /** Asks `beforeWrite`. The partner's time does not run meanwhile. */
  async mayWriteTo(socket: Socket): Promise<boolean> {
    const { beforeWrite } = this.request;
    if (this.settled || this.sent) return false;
    if (!beforeWrite) return true;
    clearTimeout(this.deadline);
    const permission = await beforeWrite();
    const refusal = 'refused' in permission ? permission.refused : closedWhileSilent(socket);
    if (refusal !== undefined) this.fail('withdrawn', refusal);
    if (refusal !== undefined || 'refused' in permission) return false;
    this.notAfter = Math.min(this.notAfter, permission.writeBy);
    this.startDeadline();
    // Undici would wait in vain on a connection that has broken.
    return !socket.destroyed;
  }

  /**
   * Undici calls this on a connected socket and writes the request right after, unless it was aborted here. It is the last
   * moment at which "not sent" is certain.
   */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.settled) return controller.abort(new Error('given up'));
    // Undici sometimes puts a request that lost its connection back into its queue. Only one write is allowed.
    if (this.sent) return this.fail('connection-lost', 'the connection failed before a whole answer');
    if (this.limits.now() > this.notAfter) return this.fail('too-late', 'not sent, its time was over');
    this.sent = true;
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Record<string, unknown>): void {
    if (status < 200) return;
    const retryAfterMs = parseRetryAfter(headers['retry-after'], this.limits.now());
    this.head = { httpStatus: status, retryAfterMs, sentAtMs: Date.parse(String(headers.date)) || undefined };
    this.isError = status > 299;
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.settled) return;
    this.size += chunk.length;
    this.chunks.push(chunk);
    if (this.size <= (this.isError ? ERROR_BODY_BYTES : this.limits.maxBodyBytes)) return;
    this.fail('unreadable', 'the answer is larger than PARTNER_MAX_BODY', { reason: 'too-large' });
  }

  onResponseEnd(): void {
    if (this.head) this.settle({ ...this.head, body: Buffer.concat(this.chunks) });
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    const code = safeErrorCode(error);
    const what = code === undefined ? '' : ` (${code})`;
    if (this.sent) this.fail('connection-lost', `the connection failed before a whole answer${what}`, { code });
    else this.fail('unreachable', `no connection to the partner${what}`, { code });
  }

  /** An error status says all that is needed; what became of its body does not matter. */
  private fail(kind: PartnerErrorKind, message: string, facts: PartnerErrorFacts = {}): void {
    const { head, isError } = this;
    const { operation } = this.request;
    const known = { operation, httpStatus: head?.httpStatus, retryAfterMs: head?.retryAfterMs };
    this.settle(
      head && isError ? { ...head, body: undefined } : new PartnerError(kind, message, { ...known, ...facts }),
    );
    this.controller?.abort(new Error('given up'));
  }

  private startDeadline(): void {
    this.deadline = setTimeout(() => {
      const message = `no ${this.sent ? 'whole answer' : 'connection'} before the deadline`;
      this.fail('timeout', message, { sent: this.sent });
    }, this.limits.timeoutMs);
  }

  private settle(end: WireAnswer | PartnerError): void {
    if (this.settled) return;
    this.settled = true;
    clearTimeout(this.deadline);
    this.chunks = [];
    if (end instanceof PartnerError) this.reject(end);
    else this.resolve(end);
  }
}

/** A working partner closes connections that stay silent, some with a 408, and the permission may take seconds. */
function closedWhileSilent({ readable, readableLength, errored }: Socket): string | undefined {
  const isClosed = !errored && (!readable || readableLength > 0);
  return isClosed ? 'not sent, the partner closed the connection before the write was allowed' : undefined;
}
