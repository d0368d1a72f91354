import { placementEvidenceOfStatus, type PlacementEvidence } from '../domain/placement';

export type PartnerOperation = 'listProducts' | 'listOrders' | 'placeOrder' | 'getOrder';

/** What an error may know of an answer. Each is a safe fact: never a part of a body, a header of ours or a key. */
export interface Facts {
  operation: PartnerOperation | undefined;
  httpStatus?: number;
  traceId?: string;
  timestamp?: string;
  retryAfterMs?: number;
}

interface Verdict {
  placement: PlacementEvidence;
  retryable: boolean;
}

/**
 * What every error of the client has. No `cause`: the errors underneath quote what they choked on, and a text from the
 * partner may hold a key.
 */
abstract class PartnerFailure extends Error {
  abstract readonly kind: string;
  /** Undefined only where the client itself was created wrongly. */
  readonly operation: PartnerOperation | undefined;
  /** What this proves about an order, if the operation was `placeOrder`. */
  readonly placement: PlacementEvidence;
  /** Whether the same read may succeed later without anybody changing anything. Says nothing about `placeOrder`. */
  readonly retryable: boolean;
  /** The status of the answer, if one came. */
  readonly httpStatus: number | undefined;
  readonly traceId: string | undefined;
  readonly timestamp: string | undefined;
  /** The pause that the partner asked for, 0 to one hour. */
  readonly retryAfterMs: number | undefined;

  constructor(said: string, facts: Facts, verdict: Verdict) {
    super(facts.operation === undefined ? said : `${facts.operation}: ${said}`);
    this.name = new.target.name;
    this.operation = facts.operation;
    this.placement = verdict.placement;
    this.retryable = verdict.retryable;
    this.httpStatus = facts.httpStatus;
    this.traceId = facts.traceId;
    this.timestamp = facts.timestamp;
    this.retryAfterMs = facts.retryAfterMs;
  }
}

/** An argument or an option can't be used. Thrown before anything is sent; the message never shows its value. */
export class InvalidArgumentError extends PartnerFailure {
  readonly kind = 'invalid-argument';
  constructor(said: string, operation?: PartnerOperation) {
    super(said, { operation }, { placement: 'NOT_SENT', retryable: false });
  }
}

/** No connection came about: DNS, refused, TLS. `code` is that of Node or undici. */
export class UnreachableError extends PartnerFailure {
  readonly kind = 'unreachable';
  constructor(
    operation: PartnerOperation,
    readonly code: string | undefined,
  ) {
    super(`no connection to the partner${code ? ` (${code})` : ''}`, { operation }, retryLater('NOT_SENT'));
  }
}

/** The moment of the write came later than `notAfter` allows, so nothing was written. */
export class TooLateError extends PartnerFailure {
  readonly kind = 'too-late';
  constructor(operation: PartnerOperation) {
    super('not sent, its time was over', { operation }, { placement: 'NOT_SENT', retryable: false });
  }
}

/** The client was closed before the request was sent. */
export class ClosedError extends PartnerFailure {
  readonly kind = 'closed';
  constructor(operation: PartnerOperation) {
    super('the client is closed', { operation }, { placement: 'NOT_SENT', retryable: false });
  }
}

/** The deadline passed; `sent` says whether the request may have reached the partner by then. */
export class TimeoutError extends PartnerFailure {
  readonly kind = 'timeout';
  constructor(
    facts: Facts,
    readonly sent: boolean,
  ) {
    const said = sent ? 'no whole answer before the deadline' : 'no connection before the deadline';
    super(said, facts, retryLater(sent ? 'UNKNOWN' : 'NOT_SENT'));
  }
}

/** The connection broke, or spoke no HTTP, after the request had been handed to it. `code` is of Node or undici. */
export class ConnectionLostError extends PartnerFailure {
  readonly kind = 'connection-lost';
  constructor(
    facts: Facts,
    readonly code: string | undefined,
  ) {
    super(`the connection failed before a whole answer${code ? ` (${code})` : ''}`, facts, retryLater('UNKNOWN'));
  }
}

/** 401 or 403: the key is wrong, or may not do this. */
export class AccessError extends PartnerFailure {
  readonly kind = 'access';
  constructor(facts: Facts & { httpStatus: number }) {
    super(`the partner answered ${facts.httpStatus}: access refused`, facts, verdictOfStatus(facts.httpStatus));
  }
}

/** 404: no such order (yet), or a wrong prefix. */
export class NotFoundError extends PartnerFailure {
  readonly kind = 'not-found';
  constructor(facts: Facts & { httpStatus: number }) {
    super('the partner answered 404: not found', facts, verdictOfStatus(facts.httpStatus));
  }
}

/** Any other status outside 2xx. A redirect is one of them: it is never followed, the API key must not travel. */
export class StatusError extends PartnerFailure {
  readonly kind = 'status';
  constructor(facts: Facts & { httpStatus: number }) {
    const redirect = facts.httpStatus >= 300 && facts.httpStatus < 400;
    const said = `the partner answered ${facts.httpStatus}${redirect ? ', and redirects are not followed' : ''}`;
    super(said, facts, verdictOfStatus(facts.httpStatus));
  }
}

/** A 2xx whose envelope says `success: false` or carries an error status (`envelopeStatus`). */
export class RefusedError extends PartnerFailure {
  readonly kind = 'refused';
  constructor(
    facts: Facts,
    readonly envelopeStatus: number | undefined,
  ) {
    const told = envelopeStatus === undefined ? '' : ` (${envelopeStatus})`;
    const retryable = envelopeStatus === undefined || envelopeStatus < 400 || isPassing(envelopeStatus);
    super(`the partner's envelope reports an error${told}`, facts, { placement: 'ANSWERED', retryable });
  }
}

/**
 * A 2xx that can't be used: not JSON (half a body is not either), larger than the cap, or of another shape than the
 * document's. `problems` name places and what is expected there, such as `details.data.orders.17.status: string`.
 */
export class UnreadableAnswerError extends PartnerFailure {
  readonly kind = 'unreadable';
  constructor(
    facts: Facts,
    readonly reason: 'not-json' | 'too-large' | 'shape',
    readonly problems: readonly string[] = [],
  ) {
    const said = { 'not-json': 'is not JSON', 'too-large': 'is larger than the cap', shape: 'has another shape' }[
      reason
    ];
    const where = problems.length > 0 ? `; expected ${problems.join(', ')}` : '';
    super(`the answer ${said}${where}`, facts, { placement: 'UNKNOWN', retryable: reason === 'not-json' });
  }
}

/** All pages were read, again and again, and they still hold fewer rows than the partner counts. */
export class IncompleteListError extends PartnerFailure {
  readonly kind = 'incomplete';
  constructor(
    operation: PartnerOperation,
    readonly found: number,
    readonly hits: number,
  ) {
    super(`the pages hold ${found} of ${hits} rows`, { operation }, retryLater('UNKNOWN'));
  }
}

export type PartnerError =
  | InvalidArgumentError
  | UnreachableError
  | TooLateError
  | ClosedError
  | TimeoutError
  | ConnectionLostError
  | AccessError
  | NotFoundError
  | StatusError
  | RefusedError
  | UnreadableAnswerError
  | IncompleteListError;

/** Whether `error` came from the client. All that the client throws does. */
export function isPartnerError(error: unknown): error is PartnerError {
  return error instanceof PartnerFailure;
}

/** The error that an HTTP status other than 2xx stands for. */
export function errorOfStatus(facts: Facts & { httpStatus: number }): PartnerError {
  if (facts.httpStatus === 401 || facts.httpStatus === 403) return new AccessError(facts);
  if (facts.httpStatus === 404) return new NotFoundError(facts);
  return new StatusError(facts);
}

function retryLater(placement: PlacementEvidence): Verdict {
  return { placement, retryable: true };
}

function verdictOfStatus(status: number): Verdict {
  return { placement: placementEvidenceOfStatus(status), retryable: isPassing(status) };
}

function isPassing(status: number): boolean {
  return [408, 425, 429].includes(status) || status >= 500;
}
