import { Webhook } from 'standardwebhooks';
import { type CheckoutEvent, checkoutEvent } from '../../src/contracts/events';
import { type Received, type Reply, startServer } from './http-server';
import type { Listening } from './listen';

/** A request with a valid signature, whatever its response was. */
export interface Attempt {
  id: string;
  /** The signed time, in seconds since 1970. */
  timestamp: number;
  /** The number of signatures in the header. */
  signatures: number;
  /** W3C Trace Context, if the worker traces. */
  traceparent: string | undefined;
  body: CheckoutEvent;
}

/**
 * What the receiver does with an event.
 *
 * - a number, or `status` with headers and a body: this response; the event counts as received if it is 2xx.
 * - `raw`: these bytes, then the end.
 * - `hang`: no response until the receiver is closed. `reset`: a TCP reset.
 * - `take-and-hang`, `take-and-reset`: the event counts as received, and the sender never learns it.
 * - `head-only`: 200 with a body that never ends.
 * - a promise: any of these, once it resolves.
 */
export type Answer =
  | number
  | { status: number; headers?: Record<string, string>; body?: string | Buffer }
  | { raw: string }
  | 'hang'
  | 'reset'
  | 'take-and-hang'
  | 'take-and-reset'
  | 'head-only';

/** Events are posted to its `url`: `http://127.0.0.1:PORT/events`. */
export type Receiver = State & Listening & { url: string };

/** A checkout on a free port that verifies every event with the library of Standard Webhooks. */
export async function startReceiver({ secret }: { secret: string | readonly string[] }): Promise<Receiver> {
  const state = new State([secret].flat());
  const { port, close, url } = await startServer({ respond: (request) => state.receive(request) });
  return Object.assign(state, { port, close, url: `${url}/events` });
}

class State {
  /** Every received event, by its id. */
  readonly events = new Map<string, CheckoutEvent>();
  /** Every request with a valid signature, in the order of arrival. */
  readonly attempts: Attempt[] = [];
  /** The number of requests rejected with 401 because of a missing or invalid signature. */
  refused = 0;
  private verifiers: Webhook[] = [];
  private scripted: (Answer | Promise<Answer>)[] = [];
  private readonly ownResponses = new Map<string, { answer: Answer | Promise<Answer>; type: string | undefined }>();
  private decide: (attempt: Attempt) => Answer | Promise<Answer> = ({ body }) =>
    this.ownResponseTo(body) ?? this.scripted.shift() ?? 204;

  constructor(secrets: readonly string[]) {
    this.trust(...secrets);
  }

  attemptsAt(id: string): number {
    return this.attempts.filter((attempt) => attempt.id === id).length;
  }

  attemptsOf(referenceId: string): Attempt[] {
    return this.attempts.filter(({ body }) => body.data.referenceId === referenceId);
  }

  /** The received events of one purchase, in order. */
  eventsOf(referenceId: string): CheckoutEvent[] {
    return [...this.events.values()].filter(({ data }) => data.referenceId === referenceId);
  }

  /** The responses to the next requests, in order; then 204. */
  script(...answers: (Answer | Promise<Answer>)[]): void {
    this.scripted = answers;
  }

  /** The response to the outcome event of a purchase, or to its events of this type, until `take` is called. */
  responseTo(referenceId: string, answer: Answer | Promise<Answer>, type?: string): void {
    this.ownResponses.set(referenceId, { answer, type });
  }

  take(referenceId: string): void {
    this.ownResponses.delete(referenceId);
  }

  private ownResponseTo({ type, data }: CheckoutEvent): Answer | Promise<Answer> | undefined {
    const own = this.ownResponses.get(data.referenceId ?? '');
    const isOutcome = !['purchase.held', 'purchase.attention'].includes(type);
    return own && (own.type === undefined ? isOutcome : own.type === type) ? own.answer : undefined;
  }

  /** Chooses the response to every request, instead of a script. */
  respondWith(decide: (attempt: Attempt) => Answer | Promise<Answer>): void {
    this.decide = decide;
  }

  /** Replaces the secrets that verify signatures. */
  trust(...secrets: string[]): void {
    this.verifiers = secrets.map((secret) => new Webhook(secret));
  }

  async receive(request: Received): Promise<Reply> {
    const attempt = this.verify(request);
    if (!attempt) {
      this.refused += 1;
      return { status: 401 };
    }
    this.attempts.push(attempt);
    const answer = await this.decide(attempt);
    if (isTaken(answer)) this.events.set(attempt.id, attempt.body);
    return replyOf(answer);
  }

  private verify(request: Received): Attempt | undefined {
    const text = request.body.toString('utf8');
    const headers = request.headers as Record<string, string>;
    const good = this.verifiers.some((verifier) => {
      try {
        verifier.verify(text, headers, { jsonParse: false });
        return true;
      } catch {
        return false;
      }
    });
    if (!good) return undefined;
    return {
      id: headers['webhook-id']!,
      timestamp: Number(headers['webhook-timestamp']),
      signatures: headers['webhook-signature']!.split(' ').length,
      traceparent: headers.traceparent,
      body: checkoutEvent.parse(JSON.parse(text)),
    };
  }
}

function replyOf(answer: Answer): Reply {
  if (answer === 'hang' || answer === 'take-and-hang') return 'hang';
  if (answer === 'reset' || answer === 'take-and-reset') return 'reset';
  if (answer === 'head-only')
    return { raw: 'HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\nnever the whole', then: 'hold' };
  return typeof answer === 'number' ? { status: answer } : answer;
}

function isTaken(answer: Answer): boolean {
  if (typeof answer === 'string') return answer === 'head-only' || answer.startsWith('take-');
  if (typeof answer === 'object' && 'raw' in answer) return false;
  const status = typeof answer === 'number' ? answer : answer.status;
  return status >= 200 && status < 300;
}
