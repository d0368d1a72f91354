import type { z } from 'zod';
import { isSafeOrderId, REFERENCE_PATTERN } from '../domain/order';
import { ERROR_CODES, PartnerError, type PartnerErrorFacts, type PartnerOperation, statusError } from './errors';
import type { RequestFacts } from './hooks';
import { field, problemsOf } from './rows';
import * as schemas from './schemas';
import type { WireResponse } from './transport';
import type { NewOrder, Order, OrderPage, OrderQuery, PartnerResponse, ProductPage, ProductQuery } from './types';

/** The partner's URLs. The parts with a default are not in the partner's document. */
export interface PartnerLayout {
  /** `http` or `https`, with or without a path; no credentials, query or fragment. */
  baseUrl: string;
  /** Before `/products` and `/orders`. Default `/v1/partners`. */
  listPrefix?: string;
  /** Before `/place-order` and `/orders/{id}/keys`. Default empty. */
  orderPrefix?: string;
  /** Parameter names of the order history. Default `query`, `page`, `limit`. */
  historyParams?: { search: string; page: string; limit: string };
}

/** One request and the shape of its response. */
export interface Call<T> {
  facts: RequestFacts;
  method: 'GET' | 'POST';
  path: string;
  body?: Buffer;
  schema: z.ZodType<T>;
  /**
   * Checks a payload that has the right shape.
   * @returns the problem, if there is one
   */
  problemOf?: (payload: T) => string | undefined;
}

/** Builds the calls. They throw PartnerError `invalid-argument`; its message never contains the value. */
export function createCalls({ baseUrl, listPrefix = '/v1/partners', orderPrefix = '', historyParams }: PartnerLayout) {
  const names = historyParams ?? { search: 'query', page: 'page', limit: 'limit' };
  const { origin, pathname } = new URL(baseUrl);
  const base = pathname.replace(/\/+$/, '');
  return {
    origin,
    listProducts({ query, inStock: in_stock, sort, currency, page, limit }: ProductQuery): Call<ProductPage> {
      const path = `${base}${listPrefix}/products${paramsOf({ query, in_stock, sort, currency, page, limit })}`;
      return { facts: { operation: 'listProducts' }, method: 'GET', path, schema: schemas.productPage };
    },
    listOrders({ search, page, limit }: OrderQuery): Call<OrderPage> {
      // With an empty search the partner would list all orders.
      assertArgument(search !== '', 'search must not be empty', 'listOrders');
      const params = paramsOf({ [names.search]: search, [names.page]: page, [names.limit]: limit });
      const path = `${base}${listPrefix}/orders${params}`;
      return { facts: { operation: 'listOrders' }, method: 'GET', path, schema: schemas.orderPage };
    },
    placeOrder(order: NewOrder): Call<{ id: string }> {
      const facts = { operation: 'placeOrder', referenceId: order.referenceId } as const;
      const path = `${base}${orderPrefix}/place-order`;
      return { facts, method: 'POST', path, body: orderBody(order), schema: schemas.placedOrder };
    },
    getOrder(id: string, productIds: readonly string[]): Call<Order> {
      assertArgument(
        isText(id) && isSafeOrderId(id),
        'the order id has characters that are not allowed in a path',
        'getOrder',
      );
      const path = `${base}${orderPrefix}/orders/${id}/keys`;
      // The keys of another order would reach the wrong customer.
      const problemOf = (order: Order) => (order.id === id ? undefined : 'details.data.id: the requested id');
      const facts = { operation: 'getOrder', orderId: id } as const;
      return { facts, method: 'GET', path, schema: schemas.orderWithKeys(productIds), problemOf };
    },
  };
}

/** @param apiKey its errors are dropped, because they may quote a path or a secret */
export function headersOf(apiKey: () => string, operation: PartnerOperation, hasBody: boolean): Record<string, string> {
  let key: string | undefined;
  try {
    key = apiKey();
  } catch {
    assertArgument(false, 'the API key could not be read', operation);
  }
  const isUsable = key !== undefined && /^[\x21-\x7e]+$/.test(key);
  assertArgument(isUsable, 'the API key is empty or has characters that are not allowed in a header', operation);
  const headers = { 'x-api-key': key, accept: 'application/json' };
  return hasBody ? { ...headers, 'content-type': 'application/json' } : headers;
}

function orderBody({ items, referenceId }: NewOrder): Buffer {
  const check = (holds: boolean, message: string) => assertArgument(holds, message, 'placeOrder');
  check(isText(referenceId) && REFERENCE_PATTERN.test(referenceId), 'referenceId is not a valid reference');
  check(items.length > 0, 'items must not be empty');
  for (const [index, { id, quantity }] of items.entries()) {
    check(isText(id), `items.${index}.id must not be empty`);
    check(
      Number.isSafeInteger(quantity) && quantity >= 1,
      `items.${index}.quantity must be a whole number of at least 1`,
    );
  }
  const lines = items.map(({ id, quantity }) => ({ id, quantity }));
  return Buffer.from(JSON.stringify({ items: lines, reference_id: referenceId }));
}

/** The query string with its question mark, or an empty string. */
function paramsOf(values: Record<string, string | number | boolean | undefined>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== undefined) params.set(name, String(value));
  return params.size > 0 ? `?${params.toString()}` : '';
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function assertArgument(holds: boolean, message: string, operation: PartnerOperation): asserts holds {
  if (!holds) throw new PartnerError('invalid-argument', message, { operation });
}

/**
 * Returns the payload of a valid response.
 * @throws PartnerError for anything else
 */
export function readResponse<T>(
  response: WireResponse,
  { facts: { operation }, schema, problemOf }: Call<T>,
): PartnerResponse<T> {
  const { httpStatus, retryAfterMs, sentAtMs, body } = response;
  const parsed = parseJson(body);
  const traceId = traceIdOf(parsed);
  const facts = { operation, httpStatus, retryAfterMs, traceId };
  if (httpStatus < 200 || httpStatus > 299) throw statusError({ ...facts, errorCode: errorCodeOf(parsed) });
  if (parsed === undefined) {
    throw new PartnerError('unreadable', 'the response is not usable JSON', { ...facts, reason: 'not-json' });
  }
  throwIfUnsuccessful(parsed, facts);
  const whole = schemas.envelope.safeParse(parsed);
  if (!whole.success) throw shapeError(facts, problemsOf(whole.error));
  const payload = safeParse(schema, whole.data.details.data);
  if (!payload?.success) throw shapeError(facts, problemsOf(payload?.error, ['details', 'data']));
  const problem = problemOf?.(payload.data);
  if (problem !== undefined) throw shapeError(facts, [problem]);
  return { data: payload.data, traceId, sentAtMs };
}

/** Twice as many as a page of 50,000 orders or an order of 30,000 keys can have. */
const MAX_VALUES = 2_000_000;
const [LEFT_BRACKET, LEFT_BRACE, COMMA] = [0x5b, 0x7b, 0x2c];

/** @returns undefined for anything but JSON of bounded size in valid UTF-8: a replaced character would corrupt a key */
function parseJson(body: Buffer | undefined): unknown {
  if (body && hasTooManyValues(body)) return undefined;
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    // The message of JSON.parse quotes its input, which may contain a key.
    return undefined;
  }
}

/** Counts before parsing, because ten million empty lists in 30 MB take a gigabyte of memory when parsed. */
function hasTooManyValues(body: Buffer): boolean {
  let values = 0;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at];
    if (byte === LEFT_BRACKET || byte === LEFT_BRACE || byte === COMMA) values += 1;
  }
  return values > MAX_VALUES;
}

/** @returns undefined if the value breaks the parser itself, whose error may quote a key */
function safeParse<T>(schema: z.ZodType<T>, value: unknown) {
  try {
    return schema.safeParse(value);
  } catch {
    return undefined;
  }
}

function throwIfUnsuccessful(parsed: unknown, facts: PartnerErrorFacts): void {
  const status = schemas.numberOf(field(parsed, 'status'));
  const envelopeStatus = typeof status === 'number' && status >= 400 ? status : undefined;
  if (field(parsed, 'success') !== false && envelopeStatus === undefined) return;
  const errorCode = errorCodeOf(parsed);
  const known = [envelopeStatus, errorCode].filter((one) => one !== undefined).join(', ');
  const message = `the partner's envelope reports an error${known && ` (${known})`}`;
  throw new PartnerError('unsuccessful', message, { ...facts, envelopeStatus, errorCode });
}

function shapeError(facts: PartnerErrorFacts, expected: readonly string[]): PartnerError {
  const message = `the response has an unexpected shape; expected ${expected.join(', ') || 'a readable one'}`;
  return new PartnerError('unreadable', message, { ...facts, reason: 'shape' });
}

/** The trace id. It is logged, so anything that does not look like an id is dropped. */
function traceIdOf(parsed: unknown): string | undefined {
  const traceId = field(field(field(parsed, 'details'), 'extensions'), 'trace_id');
  return typeof traceId === 'string' && /^[A-Za-z0-9._:/+=-]{1,128}$/.test(traceId) ? traceId : undefined;
}

/**
 * The partner's document shows no error response. The code is looked for in the envelope, and in the other usual
 * places.
 */
function errorCodeOf(parsed: unknown): (typeof ERROR_CODES)[number] | undefined {
  const details = field(parsed, 'details');
  const error = field(parsed, 'error');
  const places = [
    field(field(details, 'data'), 'code'),
    field(details, 'code'),
    field(error, 'code'),
    field(parsed, 'code'),
    error,
  ];
  const written = places.find((place) => typeof place === 'string');
  const code = typeof written === 'string' ? written.toLowerCase().replace(/[ -]/g, '_') : undefined;
  return ERROR_CODES.find((known) => known === code);
}
