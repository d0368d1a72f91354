import type { Socket } from 'node:net';
import { Agent, buildConnector, Client, type Dispatcher } from 'undici';
import { safeErrorCode } from '../domain/safe-values';
import { parseRetryAfter } from '../domain/retry-after';
import { PartnerError, type PartnerErrorFacts, type PartnerErrorKind, type PartnerOperation } from './errors';

/** The request had been handed to the connection, so the order may or may not exist. */
const CONNECTION_LOST = 'the connection to the partner broke before the response was complete';

export interface WireRequest {
  operation: PartnerOperation;
  method: 'GET' | 'POST';
  path: string;
  headers: Record<string, string>;
  body?: Buffer;
  /** Epoch ms: nothing is sent after this time (`too-late`). */
  notAfter?: number;
  /** In ms. Counts if it is shorter than the client's own. */
  timeoutMs?: number;
  /** Only for POST. If it does not allow the write, nothing is sent (`aborted`). */
  beforeWrite?: BeforeWrite;
}

/**
 * Called when the connection is up, before the request is written. It never throws and has its own deadline. It returns
 * the latest time (epoch ms) for the write, or the reason why the write is not allowed, which is safe to log.
 */
export type BeforeWrite = () => Promise<{ writeBy: number } | { refused: string }>;

export interface TransportLimits {
  /** From the start of the connection to the last byte of the body. */
  timeoutMs: number;
  maxBodyBytes: number;
  now: () => number;
}

export interface WireResponse {
  httpStatus: number;
  retryAfterMs: number | undefined;
  /** The header `Date`, epoch ms. */
  sentAtMs: number | undefined;
  /** Absent if the body of an error response was incomplete or too long. */
  body: Buffer | undefined;
}

/** An error body is read only for its trace id and error code. */
const ERROR_BODY_BYTES = 64 * 1024;

/**
 * Sends each request once, to one origin, without redirects or HTTP/2. Reads share keep-alive connections. Each POST
 * gets a fresh connection: on a reused one, its failure can't be told apart from that of an earlier request.
 */
export function openTransport(origin: string, limits: TransportLimits) {
  const { timeoutMs } = limits;
  // Undici's timeouts restart with every 1xx and every byte, so one total deadline replaces them.
  const options = { headersTimeout: 0, bodyTimeout: 0, allowH2: false };
  const reads = new Agent({ ...options, connectTimeout: timeoutMs, pipelining: 1 });
  const connector = buildConnector({ timeout: timeoutMs, allowH2: false });

  /** @throws PartnerError if there is no complete response */
  async function send(request: WireRequest): Promise<WireResponse> {
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
 * Hands the connection to undici only when the write is allowed, because undici writes at once. DNS, TCP and TLS are
 * done by then, so almost no time passes between the permission and the write.
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
  /** The request was handed to the connection, so the partner may have received it. */
  private sent = false;
  private finished = false;
  private notAfter: number;
  private controller: Dispatcher.DispatchController | undefined;
  private head: Omit<WireResponse, 'body'> | undefined;
  private isError = false;
  private chunks: Buffer[] = [];
  private size = 0;
  private deadline: NodeJS.Timeout | undefined;

  constructor(
    private readonly request: WireRequest,
    private readonly limits: TransportLimits,
    private readonly resolve: (response: WireResponse) => void,
    private readonly reject: (error: PartnerError) => void,
  ) {
    this.notAfter = request.notAfter ?? Infinity;
    this.startDeadline();
  }

  /** Calls `beforeWrite`. The deadline is suspended while it runs and starts again afterwards. */
  async mayWriteTo(socket: Socket): Promise<boolean> {
    const { beforeWrite } = this.request;
    if (this.finished || this.sent) return false;
    if (!beforeWrite) return true;
    clearTimeout(this.deadline);
    const permission = await beforeWrite();
    const refusal = 'refused' in permission ? permission.refused : closedWhileSilent(socket);
    if (refusal !== undefined) this.fail('aborted', refusal);
    if (refusal !== undefined || 'refused' in permission) return false;
    this.notAfter = Math.min(this.notAfter, permission.writeBy);
    this.startDeadline();
    // Undici would wait forever on a broken connection.
    return !socket.destroyed;
  }

  /**
   * Undici calls this with a connected socket and then writes the request, unless it is aborted here. This is the last
   * point at which "not sent" is certain.
   */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.finished) return controller.abort(new Error('given up'));
    // Undici may requeue a request whose connection broke. Only one write is allowed.
    if (this.sent) return this.fail('connection-lost', CONNECTION_LOST);
    if (this.limits.now() > this.notAfter) return this.fail('too-late', 'not sent, because it was too late');
    this.sent = true;
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Record<string, unknown>): void {
    if (status < 200) return;
    const retryAfterMs = parseRetryAfter(headers, this.limits.now());
    this.head = { httpStatus: status, retryAfterMs, sentAtMs: Date.parse(String(headers.date)) || undefined };
    this.isError = status > 299;
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.finished) return;
    this.size += chunk.length;
    this.chunks.push(chunk);
    if (this.size <= (this.isError ? ERROR_BODY_BYTES : this.limits.maxBodyBytes)) return;
    this.fail('unreadable', 'the response is larger than PARTNER_MAX_BODY', { reason: 'too-large' });
  }

  onResponseEnd(): void {
    if (this.head) this.finish({ ...this.head, body: Buffer.concat(this.chunks) });
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    const code = safeErrorCode(error);
    if (this.sent) this.fail('connection-lost', CONNECTION_LOST, { code });
    else this.fail('unreachable', 'no connection to the partner', { code });
  }

  /** If an error status has arrived, it counts as the response, whatever happens to its body. */
  private fail(kind: PartnerErrorKind, message: string, facts: PartnerErrorFacts = {}): void {
    const { head, isError } = this;
    const { operation } = this.request;
    const known = { operation, httpStatus: head?.httpStatus, retryAfterMs: head?.retryAfterMs };
    this.finish(
      head && isError ? { ...head, body: undefined } : new PartnerError(kind, message, { ...known, ...facts }),
    );
    this.controller?.abort(new Error('given up'));
  }

  private startDeadline(): void {
    const timeoutMs = Math.min(this.limits.timeoutMs, this.request.timeoutMs ?? Infinity);
    this.deadline = setTimeout(() => {
      const message = `no ${this.sent ? 'complete response' : 'connection'} before the deadline`;
      this.fail('timeout', message, { sent: this.sent });
    }, timeoutMs);
  }

  private finish(end: WireResponse | PartnerError): void {
    if (this.finished) return;
    this.finished = true;
    clearTimeout(this.deadline);
    this.chunks = [];
    if (end instanceof PartnerError) this.reject(end);
    else this.resolve(end);
  }
}

/** The permission may take seconds. Meanwhile the partner may close an idle connection, perhaps with a 408. */
function closedWhileSilent({ readable, readableLength, errored }: Socket): string | undefined {
  const isClosed = !errored && (!readable || readableLength > 0);
  return isClosed ? 'not sent, because the partner closed the connection before the write was allowed' : undefined;
}
