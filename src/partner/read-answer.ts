import { parseRetryAfter } from '../domain/retry-after';
import type { PartnerOperation } from './error-kind';
import {
  connectionLost,
  PartnerError,
  refused,
  statusError,
  timedOut,
  unreachable,
  unreadable,
  type PartnerErrorFacts,
} from './errors';
import { problemsOf } from './problems';
import type { AnswerSchema } from './schemas';
import type { Exchange, FailedExchange } from './transport';
import type { Answer } from './types';

/** What a whole answer must be. */
export interface ExpectedAnswer<T> {
  schema: AnswerSchema<T>;
  /** What is wrong with a payload of that shape, if anything. */
  problemOf?: (payload: T) => string | undefined;
}

/** The payload of a whole answer. @throws PartnerError for anything else. */
export function readAnswer<T>(
  exchange: Exchange,
  operation: PartnerOperation,
  expected: ExpectedAnswer<T>,
  nowMs: number,
): Answer<T> {
  if (exchange.end === 'failed') throw errorOfFailure(exchange, operation, nowMs);

  const parsed = parseJson(exchange.body);
  const { httpStatus } = exchange;
  const retryAfterMs = parseRetryAfter(exchange.retryAfter, nowMs);
  const facts = { operation, httpStatus, retryAfterMs, ...traceOf(parsed) };
  if (httpStatus < 200 || httpStatus > 299) throw statusError(facts);
  if (parsed === undefined) throw unreadable({ ...facts, reason: 'not-json' });
  refuseReportedError(parsed, facts);
  const { traceId, timestamp } = facts;
  return { data: payloadOf(parsed, expected, facts), traceId, timestamp, sentAtMs: timeOf(exchange.date) };
}

function timeOf(date: string | undefined): number | undefined {
  const ms = Date.parse(date ?? '');
  return Number.isNaN(ms) ? undefined : ms;
}

function errorOfFailure(
  { why, sent, code, head, refusal = 'not sent' }: FailedExchange,
  operation: PartnerOperation,
  nowMs: number,
): PartnerError {
  const retryAfterMs = parseRetryAfter(head?.retryAfter, nowMs);
  const facts: PartnerErrorFacts = { operation, httpStatus: head?.httpStatus, retryAfterMs };
  switch (why) {
    case 'deadline':
      return timedOut({ ...facts, sent });
    case 'too-late':
      return new PartnerError('too-late', 'not sent, its time was over', { operation });
    case 'withdrawn':
      return new PartnerError('withdrawn', refusal, { operation });
    case 'too-large':
      return unreadable({ ...facts, reason: 'too-large' });
    case 'connection':
      return sent ? connectionLost({ ...facts, code }) : unreachable({ operation, code });
  }
}

/** Undefined where the bytes are not JSON in UTF-8. A mangled character would be a wrong key, so none is replaced. */
function parseJson(body: Buffer | undefined): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    // The message of JSON.parse quotes its input, which may hold a key.
    return undefined;
  }
}

function refuseReportedError(parsed: unknown, facts: PartnerErrorFacts): void {
  const status = field(parsed, 'status');
  const envelopeStatus = typeof status === 'number' && Number.isInteger(status) && status >= 400 ? status : undefined;
  if (field(parsed, 'success') === false || envelopeStatus !== undefined) throw refused({ ...facts, envelopeStatus });
}

function payloadOf<T>(parsed: unknown, { schema, problemOf }: ExpectedAnswer<T>, facts: PartnerErrorFacts): T {
  const result = schema.safeParse(parsed);
  if (!result.success) throw unreadable({ ...facts, reason: 'shape', problems: problemsOf(result.error) });
  const payload = result.data.details.data;
  const problem = problemOf?.(payload);
  if (problem !== undefined) throw unreadable({ ...facts, reason: 'shape', problems: [problem] });
  return payload;
}

/** The partner's own name and time for its answer, if they look like that: they end up in logs. */
function traceOf(parsed: unknown): { traceId: string | undefined; timestamp: string | undefined } {
  const extensions = field(field(parsed, 'details'), 'extensions');
  return {
    traceId: textLike(/^[A-Za-z0-9._:/+=-]{1,128}$/, field(extensions, 'trace_id')),
    timestamp: textLike(/^\d{4}-\d\d-\d\dT[\d:.]{5,20}(Z|[+-]\d\d:\d\d)$/, field(extensions, 'timestamp')),
  };
}

function textLike(pattern: RegExp, value: unknown): string | undefined {
  return typeof value === 'string' && pattern.test(value) ? value : undefined;
}

function field(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}
