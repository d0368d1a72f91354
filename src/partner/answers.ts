import type { Call } from './operations';
import { PartnerError, type PartnerErrorFacts, statusError } from './errors';
import { problemsOf } from './rows';
import { envelope } from './schemas';
import type { WireAnswer } from './transport';
import type { Answer } from './types';

/** The payload of a whole answer. @throws PartnerError for anything else */
export function readAnswer<T>(answer: WireAnswer, { facts: { operation }, schema, problemOf }: Call<T>): Answer<T> {
  const { httpStatus, retryAfterMs, sentAtMs, body } = answer;
  const parsed = parseJson(body);
  const traceId = traceIdOf(parsed);
  const facts = { operation, httpStatus, retryAfterMs, traceId };
  if (httpStatus < 200 || httpStatus > 299) throw statusError(facts);
  if (parsed === undefined)
    throw new PartnerError('unreadable', 'the answer is not JSON', { ...facts, reason: 'not-json' });
  throwIfRefused(parsed, facts);
  const whole = envelope.safeParse(parsed);
  if (!whole.success) throw otherShape(facts, problemsOf(whole.error));
  const payload = schema.safeParse(whole.data.details.data);
  if (!payload.success) throw otherShape(facts, problemsOf(payload.error, ['details', 'data']));
  const problem = problemOf?.(payload.data);
  if (problem !== undefined) throw otherShape(facts, [problem]);
  return { data: payload.data, traceId, sentAtMs };
}

/** Undefined if the bytes are not JSON in UTF-8. A mangled character would be a wrong key, so none is replaced. */
function parseJson(body: Buffer | undefined): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    // The message of JSON.parse quotes its input, which may contain a key.
    return undefined;
  }
}

function throwIfRefused(parsed: unknown, facts: PartnerErrorFacts): void {
  const status = field(parsed, 'status');
  const envelopeStatus = typeof status === 'number' && status >= 400 ? status : undefined;
  if (field(parsed, 'success') !== false && envelopeStatus === undefined) return;
  const shown = envelopeStatus === undefined ? '' : ` (${envelopeStatus})`;
  throw new PartnerError('refused', `the partner's envelope reports an error${shown}`, { ...facts, envelopeStatus });
}

function otherShape(facts: PartnerErrorFacts, expected: readonly string[]): PartnerError {
  const message = `the answer has another shape; expected ${expected.join(', ')}`;
  return new PartnerError('unreadable', message, { ...facts, reason: 'shape' });
}

/** Only if it looks like one: it ends up in logs. */
function traceIdOf(parsed: unknown): string | undefined {
  const traceId = field(field(field(parsed, 'details'), 'extensions'), 'trace_id');
  return typeof traceId === 'string' && /^[A-Za-z0-9._:/+=-]{1,128}$/.test(traceId) ? traceId : undefined;
}

function field(value: unknown, name: string): unknown {
  return Object.hasOwn(Object(value), name) ? Reflect.get(Object(value), name) : undefined;
}
