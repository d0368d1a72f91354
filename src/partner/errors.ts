import { withErrorCode } from '../domain/text-format';
import type { RequestEvidence } from '../domain/placement';

export type PartnerOperation = 'listProducts' | 'listOrders' | 'placeOrder' | 'getOrder';

interface ErrorTraits {
  /** For `placeOrder`: what the error proves about the order. Only after `NOT_SENT` is a second request safe. */
  evidence: Exclude<RequestEvidence, 'PLACED'>;
  /** Whether the same read may succeed later. Says nothing about `placeOrder`. */
  retryable: boolean;
  /** Whether the cause is the partner or our account with it. The circuit breaker counts these errors. */
  countsAgainstPartner: boolean;
}

/** All kinds of errors. */
const KINDS = {
  /** An argument, an option or the API key is unusable. */
  'invalid-argument': { evidence: 'NOT_SENT', retryable: false, countsAgainstPartner: false },
  /** No connection: DNS failed, the connection was refused, or TLS failed. */
  unreachable: { evidence: 'NOT_SENT', retryable: true, countsAgainstPartner: true },
  /** The write would have been after `notAfter`, or no permit is available in time (`permitInMs`). */
  'too-late': { evidence: 'NOT_SENT', retryable: false, countsAgainstPartner: false },
  /** `beforeWrite` did not allow the write, or the partner closed the connection while `beforeWrite` ran. */
  aborted: { evidence: 'NOT_SENT', retryable: false, countsAgainstPartner: false },
  /** The client was closed, or the work that needed the request has ended. */
  closed: { evidence: 'NOT_SENT', retryable: false, countsAgainstPartner: false },
  /** The deadline passed. `sent` says whether the request may have reached the partner. */
  timeout: ({ sent = true }) => ({
    evidence: sent ? 'UNKNOWN' : 'NOT_SENT',
    retryable: true,
    countsAgainstPartner: true,
  }),
  /** After the request was handed to the connection, the connection broke or returned something other than HTTP. */
  'connection-lost': { evidence: 'UNKNOWN', retryable: true, countsAgainstPartner: true },
  /** 401 or 403: the API key is wrong or lacks permission. */
  access: ofStatus,
  /** 404: there is no such order (yet), or the prefix is wrong. Only for `placeOrder` does it affect every sale. */
  'not-found': (facts) => ({ ...ofStatus(facts), countsAgainstPartner: facts.operation === 'placeOrder' }),
  /** Any other status outside 2xx. Redirects are never followed, because they would send the API key elsewhere. */
  status: ofStatus,
  /**
   * A 2xx whose envelope says `success: false` or has an error status (`envelopeStatus`). The response contradicts
   * itself, so it proves nothing about the order.
   */
  unsuccessful: ({ envelopeStatus = 500 }) => ({
    ...ofStatus({ httpStatus: envelopeStatus }),
    evidence: 'ERROR_RESPONSE',
  }),
  /** An unusable 2xx; `reason` says what is wrong. One bad response to a read does not affect every sale. */
  unreadable: ({ operation, reason }) => ({
    evidence: 'UNKNOWN',
    retryable: reason === 'not-json',
    countsAgainstPartner: operation === 'placeOrder',
  }),
  /** The partner returned other pages of a list than requested, fewer rows than its own count, or too many rows twice. */
  incomplete: { evidence: 'UNKNOWN', retryable: true, countsAgainstPartner: false },
} as const satisfies Record<string, ErrorTraits | ((facts: PartnerErrorFacts) => ErrorTraits)>;

export type PartnerErrorKind = keyof typeof KINDS;

/** The order probably exists, from this request or an earlier one. */
const CONFLICT: ErrorTraits = { evidence: 'CONFLICT', retryable: false, countsAgainstPartner: false };

const STATUSES: readonly [statuses: readonly number[], ErrorTraits][] = [
  // About this order: its items or its size.
  [[400, 413, 415, 422], { evidence: 'ORDER_REJECTED', retryable: false, countsAgainstPartner: false }],
  // No balance, for this order or any other.
  [[402], { evidence: 'ORDER_REJECTED', retryable: false, countsAgainstPartner: true }],
  // About us: a rotated API key or a wrong prefix.
  [[401, 403, 404, 405], { evidence: 'ACCESS_DENIED', retryable: false, countsAgainstPartner: true }],
  [[409], CONFLICT],
  // The partner asks for a retry.
  [[408, 425, 429], { evidence: 'ERROR_RESPONSE', retryable: true, countsAgainstPartner: true }],
];

function ofStatus({ httpStatus = 0, errorCode }: PartnerErrorFacts): ErrorTraits {
  const [, traits] = STATUSES.find(([statuses]) => statuses.includes(httpStatus)) ?? [];
  const isDuplicate = errorCode === 'duplicate_reference' || errorCode === 'duplicate_order';
  if (traits) return isDuplicate && traits.evidence === 'ORDER_REJECTED' ? CONFLICT : traits;
  // After a server error the order may or may not exist. 1xx, 3xx and other 4xx prove nothing at all.
  const isServerError = httpStatus >= 500;
  return {
    evidence: isServerError ? 'ERROR_RESPONSE' : 'UNKNOWN',
    retryable: isServerError,
    countsAgainstPartner: true,
  };
}

/**
 * The error codes that messages may quote. The partner documents no codes, so these are the usual names for the cases
 * that its document mentions. Other text from the partner stays out of messages, because it may contain a key.
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

/** Facts about a failed request. Safe to log: they never contain a body, a request header or a key. */
export interface PartnerErrorFacts {
  operation?: PartnerOperation;
  /** The status of the response, if there was one. */
  httpStatus?: number;
  /** The partner's id for its response. */
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
  /** With `unsuccessful`: the error status in the envelope. */
  envelopeStatus?: number;
  /** With `unreadable`. An incomplete body counts as `not-json`. */
  reason?: 'not-json' | 'too-large' | 'shape';
}

const ErrorWithFacts = Error as unknown as new (message: string) => Error & Readonly<PartnerErrorFacts & ErrorTraits>;

/**
 * The only error that the client throws. It has no `cause`, because the underlying errors quote the partner's text,
 * which may contain a key.
 */
export class PartnerError extends ErrorWithFacts {
  /** @param summary the message for events: without the operation and the code. */
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
  const returned = `the partner returned ${httpStatus}${errorCode === undefined ? '' : ` (${errorCode})`}`;
  if (httpStatus === 401 || httpStatus === 403) return new PartnerError('access', `${returned}: access denied`, facts);
  if (httpStatus === 404) return new PartnerError('not-found', `${returned}: not found`, facts);
  return new PartnerError('status', returned, facts);
}

/** How metrics count a request: `ok`, the class of an error status, or the kind of error. */
export type ResponseKind = 'ok' | '3xx' | '4xx' | '429' | '5xx' | Exclude<PartnerErrorKind, 'status'>;

export function responseKindOf({ kind, httpStatus = 0 }: PartnerError): ResponseKind {
  if (kind !== 'status') return kind;
  if (httpStatus === 429) return '429';
  return httpStatus >= 500 ? '5xx' : httpStatus >= 400 ? '4xx' : '3xx';
}
