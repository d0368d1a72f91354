import { createHmac } from 'node:crypto';
import { Agent, type Dispatcher, request } from 'undici';
import { safeErrorCode } from '../domain/presentable';
import { parseRetryAfter } from '../domain/retry-after';
import { type Delivery, DeliveryError } from './delivery';

export interface WebhookOptions {
  url: string;
  /** `whsec_…` secrets, newest first, read at each attempt: each of them signs, so that a receiver may know either. */
  secrets: () => readonly string[];
  /** One attempt, from connect to the last byte of the answer, in ms. */
  timeoutMs: number;
  /** Go along with each attempt, such as `traceparent`. */
  headers?: () => Record<string, string>;
  now?: () => number;
}

const MAX_ANSWER_BYTES = 64 * 1024;

/**
 * Posts events, signed by Standard Webhooks. Redirects are not followed: keys go where the configuration says and nowhere else.
 * Attempts share no connection while they run, so a receiver that hangs holds up only its own.
 */
export function createWebhookDelivery(options: WebhookOptions): Delivery {
  const { url, timeoutMs, now = Date.now } = options;
  // Undici's timeouts begin anew with every byte, so one deadline for the whole attempt takes their place.
  const agent = new Agent({ connect: { timeout: timeoutMs }, headersTimeout: 0, bodyTimeout: 0, allowH2: false });
  const { origin } = new URL(url);
  return {
    async deliver(event, withinMs = timeoutMs) {
      const body = Buffer.from(JSON.stringify(event.body));
      const headers = { ...options.headers?.(), ...signedHeaders(event.id, body, options.secrets(), now()) };
      const answer = await post({ url, origin }, { dispatcher: agent, body, headers }, Math.min(timeoutMs, withinMs));
      if (answer.statusCode >= 200 && answer.statusCode < 300) return true;
      if (answer.statusCode === 410) return false;
      throw new DeliveryError('answered', `the checkout at ${origin} answered ${answer.statusCode}`, {
        httpStatus: answer.statusCode,
        retryAfterMs: parseRetryAfter(answer.headers['retry-after'], now()),
      });
    },
    close: () => agent.close(),
  };
}

function signedHeaders(id: string, body: Buffer, secrets: readonly string[], nowMs: number) {
  const timestamp = String(Math.floor(nowMs / 1_000));
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map((secret) => signature(secret, id, timestamp, body)).join(' '),
  };
}

/**
 * Source: the Standard Webhooks specification. Its library verifies this in the tests; it does not sign here because it
 * takes 15 times as long, during which nothing else runs, and events of image keys are megabytes.
 */
function signature(secret: string, id: string, timestamp: string, body: Buffer): string {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const mac = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body);
  return `v1,${mac.digest('base64')}`;
}

/** One request, ended by the deadline. @throws DeliveryError */
async function post(
  { url, origin }: { url: string; origin: string },
  options: { dispatcher: Agent; body: Buffer; headers: Record<string, string> },
  timeoutMs: number,
): Promise<Dispatcher.ResponseData> {
  const late = () => new DeliveryError('timeout', `the checkout at ${origin} did not answer in time`);
  if (timeoutMs <= 0) throw late();
  // Not combined with others: Node 20 may collect a combined signal, which never fires then.
  const signal = AbortSignal.timeout(Math.ceil(timeoutMs));
  try {
    const answer = await request(url, { ...options, method: 'POST', signal });
    // The status says it all. After a receipt the connection is kept if the body ends; otherwise the next attempt must not find it open.
    if (answer.statusCode < 300) void answer.body.dump({ limit: MAX_ANSWER_BYTES, signal }).catch(() => undefined);
    else answer.body.on('error', () => undefined).destroy();
    return answer;
  } catch (error) {
    if (signal.aborted) throw late();
    const code = safeErrorCode(error);
    const message = `the checkout at ${origin} can't be reached: ${code ?? 'no connection'}`;
    throw new DeliveryError('unreachable', message, { code });
  }
}
