import { randomUUID, timingSafeEqual } from 'node:crypto';
import { checkoutEvent } from '../contracts/events';
import type { FulfilmentEvent, KnownEvent } from '../contracts/public-types';
import { keyOf, signatureOf, signedHeaders } from '../delivery/signature';
import { FulfilmentError, InvalidArgumentError } from './errors';

/** The headers of a request: those of Node and Express, or a `Headers` object. */
export type EventHeaders =
  Readonly<Record<string, string | readonly string[] | undefined>> | { get(name: string): string | null };

export interface ClockOptions {
  /** Epoch ms. Default: now. */
  now?: number | undefined;
}

/**
 * Why a request was rejected. `SIGNATURE`: the signature or a `webhook-` header is wrong. `TIMESTAMP`: the timestamp is
 * more than five minutes off. `BODY`: the signed body is not an event.
 */
export type InvalidEventReason = 'SIGNATURE' | 'TIMESTAMP' | 'BODY';

/** The request is not a valid event from the worker. The message quotes neither the body nor a secret. */
export class InvalidEventError extends FulfilmentError {
  /** The status to respond with. Express and Fastify use it if the error reaches them. */
  readonly statusCode: 400 | 401;

  constructor(
    readonly reason: InvalidEventReason,
    message: string,
  ) {
    super(message);
    this.statusCode = reason === 'BODY' ? 400 : 401;
  }
}

/** Limits the replay of captured requests. Standard Webhooks suggests this value. */
const TOLERANCE_S = 5 * 60;

/**
 * Verifies the signature of a request and returns its event. Accepts unknown types and fields. It checks the envelope
 * and the lines, but not every field of `data`, because only the worker can sign.
 *
 * @param body the raw body, as bytes or text, never parsed JSON.
 * @param secrets the worker's DELIVERY_SECRET, `whsec_…`. During a rotation, pass all secrets, as a list or separated
 * by spaces.
 * @throws InvalidEventError
 * @throws InvalidArgumentError if the body is already parsed or a secret is malformed. Both are bugs in the receiver.
 */
export function parseEvent(
  body: string | Uint8Array,
  headers: EventHeaders,
  secrets: string | readonly string[],
  { now = Date.now() }: ClockOptions = {},
): FulfilmentEvent {
  // These come first, because a stranger's request without a body is not a bug in the receiver.
  const signed = { id: headerOf(headers, 'webhook-id'), timestamp: headerOf(headers, 'webhook-timestamp') };
  const signatures = headerOf(headers, 'webhook-signature').split(' ');
  const bytes = bytesOf(body);
  const expected = secretsIn(secrets).map((secret) => signatureOf(keyOf(secret), signed, bytes));
  if (!expected.some((one) => signatures.some((other) => isSame(one, other)))) {
    throw new InvalidEventError(
      'SIGNATURE',
      "The signature does not match. Use the worker's DELIVERY_SECRET, and pass the body unchanged.",
    );
  }
  checkAge(signed.timestamp, now);
  return { ...eventIn(bytes), id: signed.id };
}

/** An event to test a receiver with, such as one of `EVENT_SAMPLES`. `id` is the `webhook-id`; the default is a new id. */
export type UnsignedEvent = UnsignedOf<KnownEvent>;

type UnsignedOf<E> = E extends KnownEvent ? Pick<E, 'type' | 'data'> & { id?: string | undefined } : never;

/**
 * Signs an event as the worker does, so that a test can send it to a receiver.
 *
 * @param secret the receiver's secret, `whsec_…`. If there are several, the first one signs.
 * @returns the request to post.
 * @throws InvalidArgumentError if the secret is malformed.
 */
export function signEvent(
  { type, data, id = `evt_${randomUUID()}` }: UnsignedEvent,
  secret: string,
  { now = Date.now() }: ClockOptions = {},
): { headers: Record<string, string>; body: string } {
  const body = JSON.stringify({ type, timestamp: new Date(now).toISOString(), data });
  return { headers: signedHeaders(id, Buffer.from(body), secretsIn(secret).slice(0, 1), now), body };
}

function bytesOf(body: unknown): Buffer {
  if (typeof body === 'string') return Buffer.from(body);
  if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  throw new InvalidArgumentError(
    'parseEvent needs the raw body, as text or bytes. In Express, use express.raw() on this route, and define the route ' +
      'before app.use(express.json()), which would parse the body first.',
  );
}

function headerOf(headers: EventHeaders, name: string): string {
  if (typeof headers !== 'object' || headers === null) {
    throw new InvalidArgumentError("parseEvent: expected the request's headers as an object, such as request.headers");
  }
  const found = isHeaders(headers) ? headers.get(name) : valueOf(headers, name);
  // Node's `headersDistinct` has a list of values for each header.
  const value: unknown = Array.isArray(found) && found.length === 1 ? found[0] : found;
  if (typeof value === 'string' && value !== '') return value;
  throw new InvalidEventError('SIGNATURE', `The header ${name} is missing or repeated.`);
}

function isHeaders(headers: EventHeaders): headers is { get(name: string): string | null } {
  return typeof headers.get === 'function';
}

function valueOf(headers: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
}

function secretsIn(secrets: unknown): string[] {
  const given = [secrets].flat().filter((secret) => typeof secret === 'string');
  const all = given.flatMap((secret) => secret.split(/\s+/)).filter(Boolean);
  if (all.length > 0 && all.every((secret) => keyOf(secret).length > 0)) return all;
  const got = given.length === 0 ? 'nothing' : all.length === 0 ? 'an empty string' : 'something else (not shown)';
  throw new InvalidArgumentError(`Expected the worker's DELIVERY_SECRET, whsec_ followed by Base64; got ${got}.`);
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function checkAge(timestamp: string, now: number): void {
  const ageS = Math.floor(now / 1_000) - Number(timestamp);
  // A NaN age fails this comparison too.
  if (Math.abs(ageS) <= TOLERANCE_S) return;
  const how = Number.isNaN(ageS) ? 'is not a number' : `differs from this machine's clock by ${Math.abs(ageS)} s`;
  throw new InvalidEventError('TIMESTAMP', `The header webhook-timestamp ${how}. At most 300 s are allowed.`);
}

/** Checks only the fields that all events share, because a newer worker may send types that this version does not know. */
function eventIn(bytes: Buffer): FulfilmentEvent {
  const json = parsed(bytes);
  if (json === undefined) throw new InvalidEventError('BODY', 'The signature is valid, but the body is not JSON.');
  const { data, error } = checkoutEvent.safeParse(json);
  if (data) return data as unknown as FulfilmentEvent;
  const issues = error.issues.map(({ path, message }) => `${path.join('.') || 'the body'}: ${message}`);
  throw new InvalidEventError('BODY', `The signature is valid, but the body is not an event: ${issues.join('; ')}`);
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}
