import { withErrorCode } from '../domain/text-format';
import type { RequestEvidence } from '../domain/placement';

export type PartnerOperation = 'listProducts' | 'listOrders' | 'placeOrder' | 'getOrder';

interface Consequences {
  /** What it proves about the order, for `placeOrder`. Only after `NOT_SENT` is a second request safe. */
  placement: Exclude<RequestEvidence, 'PLACED'>;
  /** Whether the same read may succeed later without any change. Says nothing about `placeOrder`. */
  retryable: boolean;
  /** Whether the partner or our account is the cause. The circuit breaker counts these errors. */
  countsAgainstPartner: boolean;
}

/** All kinds of errors. With the first five, nothing was sent. */
const KINDS = {
  /** An argument, an option or the API key is unusable. */
  'invalid-argument': { placement: 'NOT_SENT', retryable: false, countsAgainstPartner: false },
  /** No connection: DNS, refused, TLS. */
  unreachable: { placement: 'NOT_SENT', retryable: true, countsAgainstPartner: true },
  /** The write would have been after `notAfter`, or no permit is available in time (`permitInMs`). */
  'too-late': { placement: 'NOT_SENT', retryable: false, countsAgainstPartner: false },
  /** `beforeWrite` refused the write, or the partner closed the connection meanwhile. */
  withdrawn: { placement: 'NOT_SENT', retryable: false, countsAgainstPartner: false },
  /** The client was closed, or the work that the request belongs to has ended or was aborted. */
  closed: { placement: 'NOT_SENT', retryable: false, countsAgainstPartner: false },
  /** The deadline passed. `sent` says whether the request may have reached the partner. */
  timeout: ({ sent = true }) => ({
    placement: sent ? 'UNKNOWN' : 'NOT_SENT',
    retryable: true,
    countsAgainstPartner: true,
  }),
  /** The connection broke or did not speak HTTP after the request was given to it. */
  'connection-lost': { placement: 'UNKNOWN', retryable: true, countsAgainstPartner: true },
  /** 401 or 403: the key is wrong or lacks permission. */
  access: ofStatus,
  /** 404: no such order (yet), or a wrong prefix. Only for `placeOrder` does it mean that no sale can succeed. */
  'not-found': (facts) => ({ ...ofStatus(facts), countsAgainstPartner: facts.operation === 'placeOrder' }),
  /** Any other status outside 2xx. Redirects are never followed, because they would send the API key elsewhere. */
  status: ofStatus,
  /** A 2xx whose envelope says `success: false` or has an error status (`envelopeStatus`). */
  refused: ({ envelopeStatus = 500 }) => ({
    placement: 'ERROR_RESPONSE',
    retryable: ofStatus({ httpStatus: envelopeStatus }).retryable,
    countsAgainstPartner: true,
  }),
  /** An unusable 2xx; `reason` says why. One bad answer to a read does not mean that no sale can succeed. */
  unreadable: ({ operation, reason }) => ({
    placement: 'UNKNOWN',
    retryable: reason === 'not-json',
    countsAgainstPartner: operation === 'placeOrder',
  }),
  /** The pages of a list are not the requested ones, or hold fewer rows than the partner counts. */
  incomplete: { placement: 'UNKNOWN', retryable: true, countsAgainstPartner: false },
} as const satisfies Record<string, Consequences | ((facts: PartnerErrorFacts) => Consequences)>;

export type PartnerErrorKind = keyof typeof KINDS;

const STATUSES: readonly [statuses: readonly number[], Consequences][] = [
  // About this order: its items or its size.
  [[400, 413, 415, 422], { placement: 'ORDER_REFUSED', retryable: false, countsAgainstPartner: false }],
  // No balance, for this order or any other.
  [[402], { placement: 'ORDER_REFUSED', retryable: false, countsAgainstPartner: true }],
  // About us: a rotated key, a wrong prefix.
  [[401, 403, 404, 405], { placement: 'ACCESS_REFUSED', retryable: false, countsAgainstPartner: true }],
  // The order probably exists, from this request or an earlier one.
  [[409], { placement: 'CONFLICT', retryable: false, countsAgainstPartner: false }],
  // Asks for a retry.
  [[408, 425, 429], { placement: 'ERROR_RESPONSE', retryable: true, countsAgainstPartner: true }],
];

function ofStatus({ httpStatus = 0 }: PartnerErrorFacts): Consequences {
  const row = STATUSES.find(([statuses]) => statuses.includes(httpStatus));
  if (row) return row[1];
  // After a server error the partner may have bought or not. 1xx, 3xx and other 4xx prove nothing at all.
  const isServerError = httpStatus >= 500;
  return {
    placement: isServerError ? 'ERROR_RESPONSE' : 'UNKNOWN',
    retryable: isServerError,
    countsAgainstPartner: true,
  };
}

/**
 * The error codes that are shown. The partner's document lists none, so these are the usual names of the cases that
 * it mentions. Any other text of the partner stays out of messages, because it may contain a key.
 */
export const ERROR_CODES = [
  'insufficient_balance',
  'insufficient_funds',
  'insufficient_credit',
  'insufficient_stock',
  'out_of_stock',
  'product_not_found',
  'product_unavailable',
  'unknown_product',
  'invalid_product',
  'invalid_quantity',
  'quantity_too_large',
  'limit_exceeded',
  'duplicate_reference',
  'duplicate_order',
  'invalid_request',
  'bad_request',
  'validation_error',
] as const;

/** Facts about a failed request. Safe to log: they never contain a body, one of our headers or a key. */
export interface PartnerErrorFacts {
  operation?: PartnerOperation;
  /** The status of the answer, if one came. */
  httpStatus?: number;
  /** The partner's id for its answer. */
  traceId?: string;
  /** The partner's error code, if it is one of `ERROR_CODES`. */
  errorCode?: (typeof ERROR_CODES)[number];
  /** The partner's Retry-After, 0 to one hour. */
  retryAfterMs?: number;
  /** With `too-late` under `PARTNER_MAX_RPS`: when to try again. */
  permitInMs?: number;
  /** From Node or undici, such as ECONNRESET. */
  code?: string;
  /** With `timeout`: whether the request may have reached the partner. */
  sent?: boolean;
  /** With `refused`: the error status in the envelope. */
  envelopeStatus?: number;
  /** With `unreadable`. An incomplete body counts as `not-json`. */
  reason?: 'not-json' | 'too-large' | 'shape';
}

const ErrorWithFacts = Error as unknown as new (message: string) => Error & Readonly<PartnerErrorFacts & Consequences>;

/**
 * The only error that the client throws. It has no `cause`, because the underlying errors quote the partner's text,
 * which may contain a key.
 */
export class PartnerError extends ErrorWithFacts {
  /** @param summary the message for people outside, without the operation and the code. Events quote it. */
  constructor(
    readonly kind: PartnerErrorKind,
    readonly summary: string,
    facts: PartnerErrorFacts,
  ) {
    const { operation, code } = facts;
    super(withErrorCode(operation === undefined ? summary : `${operation}: ${summary}`, code));
    this.name = 'PartnerError';
    const row = KINDS[kind];
    Object.assign(this, facts, typeof row === 'function' ? row(facts) : row);
  }
}

export function isPartnerError(error: unknown): error is PartnerError {
  return error instanceof PartnerError;
}

/** The error for an HTTP status outside 2xx. */
export function statusError(facts: PartnerErrorFacts & { httpStatus: number }): PartnerError {
  const { httpStatus, errorCode } = facts;
  const answered = `the partner answered ${httpStatus}${errorCode === undefined ? '' : ` (${errorCode})`}`;
  if (httpStatus === 401 || httpStatus === 403) return new PartnerError('access', `${answered}: access refused`, facts);
  if (httpStatus === 404) return new PartnerError('not-found', `${answered}: not found`, facts);
  return new PartnerError('status', answered, facts);
}

/** How metrics count a request: `ok`, the class of an error status, or the kind of error. */
export type ResponseKind = 'ok' | '3xx' | '4xx' | '429' | '5xx' | Exclude<PartnerErrorKind, 'status'>;

export function responseKindOf({ kind, httpStatus = 0 }: PartnerError): ResponseKind {
  if (kind !== 'status') return kind;
  if (httpStatus === 429) return '429';
  return httpStatus >= 500 ? '5xx' : httpStatus >= 400 ? '4xx' : '3xx';
}
