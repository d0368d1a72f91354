import { Agent, type Dispatcher, request } from 'undici';
import { safeErrorCode } from '../domain/safe-values';
import { parseRetryAfter } from '../domain/retry-after';
import { type EventSender, DeliveryError } from './event-sender';
import { signedHeaders } from './signature';

export interface WebhookOptions {
  url: string;
  /** Returns the `whsec_…` secrets, called at each attempt. Each of them signs, so a receiver may know any of them. */
  secrets: () => readonly string[];
  /** The deadline of one attempt, from the connection to the last byte of the response, in ms. */
  timeoutMs: number;
  /** Additional headers of each attempt, such as `traceparent`. */
  headers?: () => Record<string, string>;
  now?: () => number;
}

const MAX_RESPONSE_BYTES = 64 * 1024;

/**
 * Posts events, signed as Standard Webhooks. Redirects are not followed, because keys must not go anywhere else. Each
 * running attempt has its own connection, so a request that hangs does not delay others.
 */
export function createWebhookSender(options: WebhookOptions): EventSender {
  const { url, timeoutMs, now = Date.now } = options;
  // Undici's timeouts restart with every byte, so one deadline for the whole attempt replaces them.
  const agent = new Agent({ connect: { timeout: timeoutMs }, headersTimeout: 0, bodyTimeout: 0, allowH2: false });
  const { origin } = new URL(url);
  return {
    async deliver(event, withinMs = timeoutMs) {
      const body = Buffer.from(JSON.stringify(event.body));
      const headers = { ...options.headers?.(), ...signedHeaders(event.id, body, options.secrets(), now()) };
      const response = await post({ url, origin }, { dispatcher: agent, body, headers }, Math.min(timeoutMs, withinMs));
      if (response.statusCode >= 200 && response.statusCode < 300) return true;
      if (response.statusCode === 410) return false;
      throw new DeliveryError('error-response', `the checkout at ${origin} returned ${response.statusCode}`, {
        httpStatus: response.statusCode,
        retryAfterMs: parseRetryAfter(response.headers, now()),
      });
    },
    close: () => agent.close(),
  };
}

/**
 * Sends one request with a deadline.
 * @throws DeliveryError
 */
async function post(
  { url, origin }: { url: string; origin: string },
  options: { dispatcher: Agent; body: Buffer; headers: Record<string, string> },
  timeoutMs: number,
): Promise<Dispatcher.ResponseData> {
  const late = () => new DeliveryError('timeout', `the checkout at ${origin} did not respond in time`);
  if (timeoutMs <= 0) throw late();
  // Not combined with other signals: Node 20 may garbage-collect a combined signal, which then never fires.
  const signal = AbortSignal.timeout(Math.ceil(timeoutMs));
  try {
    const response = await request(url, { ...options, method: 'POST', signal });
    // Only the status matters. After a 2xx the connection may be reused; otherwise it is closed for the next attempt.
    if (response.statusCode < 300)
      void response.body.dump({ limit: MAX_RESPONSE_BYTES, signal }).catch(() => undefined);
    else response.body.on('error', () => undefined).destroy();
    return response;
  } catch (error) {
    if (signal.aborted) throw late();
    const code = safeErrorCode(error);
    const message = `the checkout at ${origin} can't be reached: ${code ?? 'no connection'}`;
    throw new DeliveryError('unreachable', message, { code });
  }
}
