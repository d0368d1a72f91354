import type { z } from 'zod';
import type { UnreadableRow } from './history-rows';
import type * as wire from './schemas';

/** The orders in which the partner can list products. Without one it lists them by relevance. */
export const PRODUCT_SORTS = [
  'DATE_DESC',
  'DATE_ASC',
  'PRICE_ASC',
  'PRICE_DESC',
  'ALPHABET_ASC',
  'ALPHABET_DESC',
] as const;

/** The currencies in which the partner can show prices. */
export const CURRENCIES = ['EUR', 'GBP', 'CHF', 'PLN', 'RUB', 'UAH', 'USD', 'CAD', 'AUD', 'NZD'] as const;

/** What to list of the catalogue. `page` counts from 1; `limit` is 1 to 500, the partner's default is 50. */
export interface ProductQuery {
  query?: string;
  inStock?: boolean;
  sort?: (typeof PRODUCT_SORTS)[number];
  currency?: (typeof CURRENCIES)[number];
  page?: number;
  limit?: number;
}

/** What to list of the order history. `search` is an order id or a reference; the partner's match may be fuzzy. */
export interface OrderQuery {
  search?: string;
  page?: number;
  limit?: number;
}

export type Product = z.output<typeof wire.product>;
export type ProductPage = z.output<typeof wire.productPage>;
/** Where a page stands: `page` of `total` pages, `limit` rows each. */
export type PagePosition = ProductPage['pages'];
/** An order as the history lists it. */
export type HistoryOrder = z.output<typeof wire.historyOrder>;
/** A row of the history. */
export type HistoryRow = HistoryOrder | UnreadableRow;
export type OrderPage = z.output<typeof wire.orderPage>;
/** An order with what was delivered so far. */
export type Order = z.output<typeof wire.orderWithKeys>;

export type { UnreadableRow };

/** What to buy, under a reference of our own. Quantities are whole numbers from 1. */
export interface NewOrder {
  items: { id: string; quantity: number }[];
  referenceId: string;
}

/** The payload of a whole answer, with the partner's own name and time for it where it gave them in a usable form. */
export interface Answer<T> {
  data: T;
  traceId: string | undefined;
  timestamp: string | undefined;
  /** When the partner sent it by its own clock, epoch ms, to the second: the header `Date`. */
  sentAtMs: number | undefined;
}
