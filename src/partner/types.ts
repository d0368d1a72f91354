import type { Key } from '../domain/order';

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

export interface Product {
  id: string;
  title: string;
  /** Region codes. The partner shows neither their format nor how the two lists combine. */
  restrictions: { whitelist: string[]; blacklist: string[] };
  /** Pieces in stock. */
  quantity: number;
  /** In `currency`, as the partner wrote it: a decimal amount, not minor units. */
  price: number;
  /** One of CURRENCIES, or whatever else the partner sent. */
  currency: string;
}

/** Where a page stands: `page` of `total` pages, `limit` rows each. */
export interface PagePosition {
  page: number;
  total: number;
  limit: number;
}

/** `hits` counts the matches on all pages together. */
export interface ProductPage {
  hits: number;
  products: Product[];
  pages: PagePosition;
}

export interface OrderPage {
  hits: number;
  orders: HistoryOrder[];
  pages: PagePosition;
}

/** An order as the history lists it. */
export interface HistoryOrder {
  id: string;
  /** Absent where the partner names none, as for an order that was made by other means than this interface. */
  referenceId: string | undefined;
  /** As the partner wrote it; it does not say that these are the fulfilment statuses. */
  status: string;
  /** Absent where it is not one object: the partner does not show how it lists an order of several items. */
  item: HistoryItem | undefined;
  /** A date and time that `Date.parse` can read. */
  createdAt: string;
}

export interface HistoryItem {
  id?: string;
  title?: string;
  quantity?: number;
  amount?: number;
}

/** An order with what was delivered so far. */
export interface Order {
  id: string;
  /** One of the documented statuses, or whatever else the partner sent. */
  status: string;
  products: OrderedProduct[];
  /** Currency and unit: not shown by the partner. */
  totalDebit?: number;
  /** The account after the order. */
  balance?: { balance?: number; creditLimit?: number };
}

export interface OrderedProduct {
  id: string;
  title?: string;
  /** Pieces ordered. */
  quantity?: number;
  keys: Key[];
}

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
}
