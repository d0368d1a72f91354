import type { RequestEvidence } from '../domain/placement';

export type PartnerOperation = 'listProducts' | 'listOrders' | 'placeOrder' | 'getOrder';

interface Consequences {
  /** What it proves about the order if the operation was `placeOrder`. Only `NOT_SENT` makes a second request safe. */
  placement: Exclude<RequestEvidence, 'PLACED'>;
  /** Whether the same read may succeed later although nobody changes anything. Says nothing about `placeOrder`. */
  retryable: boolean;
  /** Whether the partner or our account is the cause. The circuit breaker counts these. */
  countsAgainstPartner: boolean;
}

/** Every way to fail. Nothing was sent with the first five. */
const KINDS = {
  /** An argument, an option or the API key is unusable. */
  'invalid-argument': { placement: 'NOT_SENT', retryable: false, countsAgainstPartner: false },
  /** No connection: DNS, refused, TLS. */
  unreachable: { placement: 'NOT_SENT', retryable: true, countsAgainstPartner: true },
  /** The write would have come after `notAfter`, or no permit comes in time (`permitInMs`). */
  'too-late': { placement: 'NOT_SENT', retryable: false, countsAgainstPartner: false },
  /** `beforeWrite` refused the write, or the partner closed the connection while it was asked. */
  withdrawn: { placement: 'NOT_SENT', retryable: false, countsAgainstPartner: false },
  /** The client was closed, or the work that the request belonged to has ended or was aborted. */
  closed: { placement: 'NOT_SENT', retryable: false, countsAgainstPartner: false },
  /** The deadline passed. `sent` says whether the request may have reached the partner. */
  timeout: ({ sent = true }) => ({
    placement: sent ? 'UNKNOWN' : 'NOT_SENT',
    retryable: true,
    countsAgainstPartner: true,
  }),
  /** The connection broke, or did not speak HTTP, after the request had been handed to it. */
  'connection-lost': { placement: 'UNKNOWN', retryable: true, countsAgainstPartner: true },
  /** 401 or 403: the key is wrong, or may not do this. */
  access: ofStatus,
  /** 404: no such order (yet), or a wrong prefix: no sale can succeed only if orders can't be placed. */
  'not-found': (facts) => ({ ...ofStatus(facts), countsAgainstPartner: facts.operation === 'placeOrder' }),
  /** Any other status outside 2xx. Redirects are never followed: the API key must not travel. */
  status: ofStatus,
  /** A 2xx whose envelope says `success: false` or has an error status (`envelopeStatus`). */
  refused: ({ envelopeStatus = 500 }) => ({
    placement: 'ANSWERED',
    retryable: ofStatus({ httpStatus: envelopeStatus }).retryable,
    countsAgainstPartner: true,
  }),
  /** A 2xx that can't be used; `reason` says why. One odd answer to a read does not show that no sale can succeed. */
  unreadable: ({ operation, reason }) => ({
    placement: 'UNKNOWN',
    retryable: reason === 'not-json',
    countsAgainstPartner: operation === 'placeOrder',
  }),
  /** The pages of a list are not those that were asked for, or hold fewer rows than the partner counts. */
  incomplete: { placement: 'UNKNOWN', retryable: true, countsAgainstPartner: false },
} as const satisfies Record<string, Consequences | ((facts: PartnerErrorFacts) => Consequences)>;

export type PartnerErrorKind = keyof typeof KINDS;

const STATUSES: readonly [statuses: readonly number[], Consequences][] = [
  // About this order: its items or its size.
  [[400, 413, 415, 422], { placement: 'ORDER_REFUSED', retryable: false, countsAgainstPartner: false }],
  // No balance, for this order and all others.
  [[402], { placement: 'ORDER_REFUSED', retryable: false, countsAgainstPartner: true }],
  // About us: a rotated key, a wrong prefix.
  [[401, 403, 404, 405], { placement: 'ACCESS_REFUSED', retryable: false, countsAgainstPartner: true }],
  // The order probably exists, from this request or an earlier one.
  [[409], { placement: 'CONFLICT', retryable: false, countsAgainstPartner: false }],
  // An invitation to try again.
  [[408, 425, 429], { placement: 'ANSWERED', retryable: true, countsAgainstPartner: true }],
];

function ofStatus({ httpStatus = 0 }: PartnerErrorFacts): Consequences {
  const row = STATUSES.find(([statuses]) => statuses.includes(httpStatus));
  if (row) return row[1];
  // A server error leaves open whether it bought; 1xx, 3xx and the other 4xx prove nothing at all.
  const isServerError = httpStatus >= 500;
  return { placement: isServerError ? 'ANSWERED' : 'UNKNOWN', retryable: isServerError, countsAgainstPartner: true };
}

/**
 * The error codes that are shown. The partner's document lists none, so these are the usual names of the cases that it mentions. Any
 * other text of the partner stays out of messages, because it may contain a key.
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

/** What is known about a failed request, safe to log: never a part of a body, a header of ours or a key. */
export interface PartnerErrorFacts {
  operation?: PartnerOperation;
  /** The status of the answer, if one came. */
  httpStatus?: number;
  /** The partner's own name for its answer. */
  traceId?: string;
  /** The partner's error code, if it is one of `ERROR_CODES`. */
  errorCode?: (typeof ERROR_CODES)[number];
  /** The pause that the partner asked for, 0 to one hour. */
  retryAfterMs?: number;
  /** With `too-late`, under `PARTNER_MAX_RPS`: when to come back. */
  permitInMs?: number;
  /** From Node or undici, such as ECONNRESET. */
  code?: string;
  /** With `timeout`: whether the request may have reached the partner. */
  sent?: boolean;
  /** With `refused`: the error status in the envelope. */
  envelopeStatus?: number;
  /** With `unreadable`. Half a body is not JSON either. */
  reason?: 'not-json' | 'too-large' | 'shape';
}

const ErrorWithFacts = Error as unknown as new (message: string) => Error & Readonly<PartnerErrorFacts & Consequences>;

/**
 * Everything the client throws. Callers ask for its `kind` and its consequences. It has no `cause`: the errors underneath
 * quote what they failed to read, and a text from the partner may contain a key.
 */
export class PartnerError extends ErrorWithFacts {
  constructor(
    readonly kind: PartnerErrorKind,
    message: string,
    facts: PartnerErrorFacts,
  ) {
    super(facts.operation === undefined ? message : `${facts.operation}: ${message}`);
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

/** How metrics count the end of a request: `ok`, the class of an error status, or the kind of the error. */
export type AnswerKind = 'ok' | '3xx' | '4xx' | '429' | '5xx' | Exclude<PartnerErrorKind, 'status'>;

export function answerKindOf({ kind, httpStatus = 0 }: PartnerError): AnswerKind {
  if (kind !== 'status') return kind;
  if (httpStatus === 429) return '429';
  return httpStatus >= 500 ? '5xx' : httpStatus >= 400 ? '4xx' : '3xx';
}
