import { isSafeOrderId, REFERENCE_PATTERN } from '../domain/order';
import type { PartnerOperation } from './error-kind';
import { invalidArgument } from './errors';
import type { NewOrder, OrderQuery, ProductQuery } from './types';

/*
 * Checks of what callers pass in, before anything is sent. The messages name the argument and never its value. Options are
 * not checked again: config/ has.
 */

/** The largest page that the partner serves. */
export const MAX_PAGE_SIZE = 500;

export interface HistoryParams {
  search: string;
  page: string;
  limit: string;
}

/** Where the operations are. The base URL may have a path of its own; prefixes are empty or start with a slash. */
export function addressOf(baseUrl: string, listPrefix: string, orderPrefix: string) {
  const { origin, pathname } = new URL(baseUrl);
  const base = pathname.replace(/\/+$/, '');
  return { origin, listPath: base + listPrefix, orderPath: base + orderPrefix };
}

/** The API key as it may stand in a header. A key that can't be read is reported without the reader's own words. */
export function readApiKey(apiKey: () => string, operation: PartnerOperation): string {
  let key: unknown;
  try {
    key = apiKey();
  } catch {
    throw invalidArgument('the API key could not be read', operation);
  }
  if (typeof key === 'string' && /^[\x21-\x7e]+$/.test(key)) return key;
  throw invalidArgument('the API key is empty, or has characters that no header can carry', operation);
}

/** What stands behind the path: empty, or from the question mark on. */
export function productParams(query: ProductQuery): string {
  const { query: words, inStock, sort, currency, page, limit } = query;
  checkPage(page, limit, 'listProducts');
  return paramsOf({ query: words, in_stock: inStock, sort, currency, page, limit });
}

/** As {@link productParams}. */
export function orderParams(query: OrderQuery, names: HistoryParams): string {
  const { search, page, limit } = query;
  // An empty search would list everything, which is the opposite of what a search for nothing means.
  demand(search === undefined || isText(search), 'search must not be empty', 'listOrders');
  checkPage(page, limit, 'listOrders');
  return paramsOf({ [names.search]: search, [names.page]: page, [names.limit]: limit });
}

/** The body of place-order. Needs at least one item. */
export function orderBody({ items, referenceId }: NewOrder): Buffer {
  const check = (holds: boolean, said: string) => demand(holds, said, 'placeOrder');
  check(isText(referenceId) && REFERENCE_PATTERN.test(referenceId), 'referenceId has another form than a reference');
  check(Array.isArray(items) && items.length > 0, 'items must not be empty');
  items.forEach((item, index) => {
    check(isText(item?.id), `items.${index}.id must not be empty`);
    check(isWhole(item.quantity), `items.${index}.quantity must be a whole number from 1`);
  });
  const lines = items.map(({ id, quantity }) => ({ id, quantity }));
  return Buffer.from(JSON.stringify({ items: lines, reference_id: referenceId }));
}

export function checkOrderId(id: string): void {
  demand(isText(id) && isSafeOrderId(id), 'the order id has characters that may not stand in a path', 'getOrder');
}

function checkPage(page: number | undefined, limit: number | undefined, operation: PartnerOperation): void {
  demand(page === undefined || isWhole(page), 'page must be a whole number from 1', operation);
  const fits = limit === undefined || (isWhole(limit) && limit <= MAX_PAGE_SIZE);
  demand(fits, `limit must be a whole number from 1 to ${MAX_PAGE_SIZE}`, operation);
}

function paramsOf(values: Record<string, string | number | boolean | undefined>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== undefined) params.set(name, String(value));
  return params.size > 0 ? `?${params.toString()}` : '';
}

function isWhole(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 1;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function demand(holds: boolean, said: string, operation: PartnerOperation): void {
  if (!holds) throw invalidArgument(said, operation);
}
