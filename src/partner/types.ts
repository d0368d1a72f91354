import type { z } from 'zod';
import type { UnreadableRow } from './rows';
import type * as schemas from './schemas';

/** The largest page that the partner returns. */
export const MAX_PAGE_SIZE = 500;

/** Without a sort order, the partner lists products by relevance. */
export const PRODUCT_SORTS = [
  'DATE_DESC',
  'DATE_ASC',
  'PRICE_ASC',
  'PRICE_DESC',
  'ALPHABET_ASC',
  'ALPHABET_DESC',
] as const;

export const CURRENCIES = ['EUR', 'GBP', 'CHF', 'PLN', 'RUB', 'UAH', 'USD', 'CAD', 'AUD', 'NZD'] as const;

/** `page` starts at 1; `limit` is 1 to 500, by default 50. */
export interface ProductQuery {
  query?: string;
  inStock?: boolean;
  sort?: (typeof PRODUCT_SORTS)[number];
  currency?: (typeof CURRENCIES)[number];
  page?: number;
  limit?: number;
}

/** `search` is an order id or a reference. The partner's search may be fuzzy. */
export interface OrderQuery {
  search?: string;
  page?: number;
  limit?: number;
}

export type Product = z.output<typeof schemas.product>;
export type ProductPage = z.output<typeof schemas.productPage>;
export type HistoryOrder = z.output<typeof schemas.historyOrder>;
export type HistoryRow = HistoryOrder | UnreadableRow;
export type OrderPage = z.output<typeof schemas.orderPage>;
/** An order with the keys delivered so far. */
export type Order = z.output<ReturnType<typeof schemas.orderWithKeys>>;

/** Quantities are whole numbers of at least 1. */
export interface NewOrder {
  items: { id: string; quantity: number }[];
  referenceId: string;
}

/** The payload of a complete response. */
export interface PartnerResponse<T> {
  data: T;
  /** The partner's id for this response. */
  traceId: string | undefined;
  /** When the partner sent the response, by the partner's clock: epoch ms, precise to the second. */
  sentAtMs: number | undefined;
}
