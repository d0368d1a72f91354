import type { PartnerErrorKind, PartnerOperation } from './error-kind';
import { type ErrorEvidence, isPassing, placementEvidenceOf } from './placement-evidence';

/** What is known of a failed operation. Each is a safe fact: never a part of a body, a header of ours or a key. */
export interface PartnerErrorFacts {
  /** Undefined only where the client itself was created wrongly. */
  operation?: PartnerOperation;
  /** The status of the answer, if one came. */
  httpStatus?: number;
  /** The partner's own name and time for its answer. */
  traceId?: string;
  timestamp?: string;
  /** The pause that the partner asked for, 0 to one hour. */
  retryAfterMs?: number;
  /** With `too-late`, under a ceiling of requests: about when a slot may come. */
  permitInMs?: number;
  /** Of Node or undici, such as ECONNRESET. */
  code?: string;
  /** With `timeout`: whether the request may have reached the partner. */
  sent?: boolean;
  /** With `refused`: the error status in the envelope. */
  envelopeStatus?: number;
  /** With `unreadable`: not JSON (half a body is not either), larger than the cap, or of another shape. */
  reason?: 'not-json' | 'too-large' | 'shape';
  /** With `unreadable`: places and what is expected there, such as `details.data.orders.17.status: string`. */
  problems?: readonly string[];
  /** With `incomplete`: how many rows were found, and how many the partner counts. */
  found?: number;
  hits?: number;
}

const ErrorWithFacts = Error as new (message: string) => Error & Readonly<PartnerErrorFacts>;

/**
 * All that the client throws, with the facts among its fields. Callers ask for its `kind`. It has no `cause`: the errors
 * underneath quote what they choked on, and a text from the partner may hold a key.
 */
export class PartnerError extends ErrorWithFacts {
  /** What this proves about an order, if the operation was `placeOrder`. */
  readonly placement: ErrorEvidence;
  /** Whether the same read may succeed later without anybody changing anything. Says nothing about `placeOrder`. */
  readonly retryable: boolean;
  get countsAgainstPartner(): boolean {
    if (this.kind === 'access' || this.kind === 'not-found') return true;
    if (this.operation !== 'placeOrder')
      return ['unreachable', 'timeout', 'connection-lost', 'refused', 'status'].includes(this.kind);
    if (['UNKNOWN', 'ANSWERED', 'ACCESS_REFUSED'].includes(this.placement)) return true;
    return this.httpStatus === 402 || ['unreachable', 'timeout'].includes(this.kind);
  }

  constructor(
    readonly kind: PartnerErrorKind,
    message: string,
    facts: PartnerErrorFacts,
  ) {
    super(facts.operation === undefined ? message : `${facts.operation}: ${message}`);
    this.name = 'PartnerError';
    Object.assign(this, facts);
    this.placement = placementEvidenceOf(kind, facts);
    this.retryable = isRetryable(kind, facts);
  }
}

export function isPartnerError(error: unknown): error is PartnerError {
  return error instanceof PartnerError;
}

/** @param message names the argument, never its value. */
export function invalidArgument(message: string, operation?: PartnerOperation): PartnerError {
  return new PartnerError('invalid-argument', message, { operation });
}

export function unreachable(facts: PartnerErrorFacts): PartnerError {
  return new PartnerError('unreachable', `no connection to the partner${inBrackets(facts.code)}`, facts);
}

export function timedOut(facts: PartnerErrorFacts & { sent: boolean }): PartnerError {
  const missing = facts.sent ? 'no whole answer' : 'no connection';
  return new PartnerError('timeout', `${missing} before the deadline`, facts);
}

export function connectionLost(facts: PartnerErrorFacts): PartnerError {
  const message = `the connection failed before a whole answer${inBrackets(facts.code)}`;
  return new PartnerError('connection-lost', message, facts);
}

/** What an HTTP status other than 2xx stands for. */
export function statusError(facts: PartnerErrorFacts & { httpStatus: number }): PartnerError {
  const { httpStatus } = facts;
  const answered = `the partner answered ${httpStatus}`;
  if (httpStatus === 401 || httpStatus === 403) return new PartnerError('access', `${answered}: access refused`, facts);
  if (httpStatus === 404) return new PartnerError('not-found', `${answered}: not found`, facts);
  const isRedirect = httpStatus >= 300 && httpStatus < 400;
  return new PartnerError('status', isRedirect ? `${answered}, and redirects are not followed` : answered, facts);
}

export function refused(facts: PartnerErrorFacts): PartnerError {
  const message = `the partner's envelope reports an error${inBrackets(facts.envelopeStatus)}`;
  return new PartnerError('refused', message, facts);
}

const UNREADABLE = { 'not-json': 'is not JSON', 'too-large': 'is larger than the cap', shape: 'has another shape' };

export function unreadable(facts: PartnerErrorFacts & { reason: keyof typeof UNREADABLE }): PartnerError {
  const { reason, problems = [] } = facts;
  const expected = problems.length > 0 ? `; expected ${problems.join(', ')}` : '';
  return new PartnerError('unreadable', `the answer ${UNREADABLE[reason]}${expected}`, facts);
}

export function incompleteList(facts: PartnerErrorFacts & { found: number; hits: number }): PartnerError {
  return new PartnerError('incomplete', `the pages hold ${facts.found} of ${facts.hits} rows`, facts);
}

function isRetryable(kind: PartnerErrorKind, { httpStatus, envelopeStatus, reason }: PartnerErrorFacts): boolean {
  switch (kind) {
    case 'unreachable':
    case 'timeout':
    case 'connection-lost':
    case 'incomplete':
      return true;
    case 'access':
    case 'not-found':
    case 'status':
      return httpStatus !== undefined && isPassing(httpStatus);
    case 'refused':
      return envelopeStatus === undefined || isPassing(envelopeStatus);
    case 'unreadable':
      return reason === 'not-json';
    case 'invalid-argument':
    case 'too-late':
    case 'withdrawn':
    case 'closed':
      return false;
  }
}

function inBrackets(fact: string | number | undefined): string {
  return fact === undefined ? '' : ` (${fact})`;
}
