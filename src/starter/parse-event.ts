import { createHmac, timingSafeEqual } from 'node:crypto';
import { checkoutEvent } from '../contracts/events';
import type { FulfilmentEvent } from '../contracts/public-types';

/** The headers of a request: those of Node and Express, or a `Headers` object. */
export type EventHeaders =
  Readonly<Record<string, string | readonly string[] | undefined>> | { get(name: string): string | null };

export interface ParseOptions {
  /** Epoch ms. Default: now. */
  now?: number | undefined;
}

/**
 * Why a request is no event of the worker: its `webhook-` headers or its signature are wrong, its timestamp is more
 * than five minutes off, or the signed body is no event.
 */
export type InvalidEventReason = 'SIGNATURE' | 'TIMESTAMP' | 'BODY';

/** A request is no event of the worker. The message quotes neither the body nor a secret. */
export class InvalidEventError extends Error {
  override readonly name = 'InvalidEventError';
  /** What to answer. Express and Fastify do so by themselves if the error reaches them. */
  readonly statusCode: 400 | 401;

  constructor(
    readonly reason: InvalidEventReason,
    message: string,
  ) {
    super(message);
    this.statusCode = reason === 'BODY' ? 400 : 401;
  }
}

/** Suggested by Standard Webhooks, so that nobody can send a captured request again later. */
const TOLERANCE_S = 5 * 60;

/**
 * Verifies the signature of a request and returns its event. It accepts types and fields that it does not know.
 *
 * @param body the body as it came: bytes or text, never parsed JSON.
 * @param secrets the worker's DELIVERY_SECRET, `whsec_…`; several, as a list or separated by spaces, while one is
 * rotated.
 * @throws InvalidEventError
 * @throws TypeError if the body was already parsed or a secret has the wrong form. Both are mistakes in the receiver.
 */
export function parseEvent(
  body: string | Uint8Array,
  headers: EventHeaders,
  secrets: string | readonly string[],
  { now = Date.now() }: ParseOptions = {},
): FulfilmentEvent {
  const bytes = bytesOf(body);
  const signed = { id: headerOf(headers, 'webhook-id'), timestamp: headerOf(headers, 'webhook-timestamp') };
  const signatures = headerOf(headers, 'webhook-signature').split(' ');
  const expected = keysOf(secrets).map((key) => signatureOf(key, signed, bytes));
  if (!expected.some((one) => signatures.some((other) => isSame(one, other)))) {
    throw new InvalidEventError(
      'SIGNATURE',
      'The signature does not fit. The secret must be the DELIVERY_SECRET of the worker, and the body must be unchanged.',
    );
  }
  checkAge(signed.timestamp, now);
  return { ...eventIn(bytes), id: signed.id };
}

function bytesOf(body: unknown): Buffer {
  if (typeof body === 'string') return Buffer.from(body);
  if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  throw new TypeError(
    'parseEvent needs the unparsed body, as text or bytes. In Express, use express.raw() on this route, and define the route ' +
      'before app.use(express.json()), which would parse the body first.',
  );
}

function headerOf(headers: EventHeaders, name: string): string {
  const value = isHeaders(headers) ? headers.get(name) : valueOf(headers, name);
  if (typeof value === 'string' && value !== '') return value;
  throw new InvalidEventError('SIGNATURE', `The header ${name} is missing.`);
}

function isHeaders(headers: EventHeaders): headers is { get(name: string): string | null } {
  return typeof headers.get === 'function';
}

function valueOf(headers: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
}

function keysOf(secrets: unknown): Buffer[] {
  const given = [secrets].flat().filter((secret) => typeof secret === 'string');
  const all = given.flatMap((secret) => secret.split(/\s+/)).filter(Boolean);
  const keys = all.map((secret) => Buffer.from(/^whsec_(.*)$/.exec(secret)?.[1] ?? '', 'base64'));
  if (keys.length > 0 && keys.every(({ length }) => length > 0)) return keys;
  throw new TypeError('parseEvent needs the DELIVERY_SECRET of the worker: whsec_ and then Base64.');
}

/** Source: the Standard Webhooks specification. */
function signatureOf(key: Buffer, { id, timestamp }: { id: string; timestamp: string }, body: Buffer): string {
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function checkAge(timestamp: string, now: number): void {
  const ageS = Math.floor(now / 1_000) - Number(timestamp);
  // NaN is no age either.
  if (Math.abs(ageS) <= TOLERANCE_S) return;
  const how = Number.isNaN(ageS) ? 'is no number' : `differs by ${Math.abs(ageS)} s from the clock of this machine`;
  throw new InvalidEventError('TIMESTAMP', `The header webhook-timestamp ${how}; 300 s are allowed.`);
}

/**
 * Checks only what all events have in common: the type may be of a later version, and the signature vouches for the
 * rest.
 */
function eventIn(bytes: Buffer): FulfilmentEvent {
  const json = parsed(bytes);
  if (json === undefined) throw new InvalidEventError('BODY', 'The signature fits, but the body is not JSON.');
  const { data, error } = checkoutEvent.safeParse(json);
  if (data) return data as unknown as FulfilmentEvent;
  const faults = error.issues.map(({ path, message }) => `${path.join('.') || 'the body'}: ${message}`);
  throw new InvalidEventError('BODY', `The signature fits, but the body is no event: ${faults.join('; ')}`);
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}
