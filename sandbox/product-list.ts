import { z } from 'zod';
import type { Catalogue, Product } from './catalogue';
import { ACCOUNT_CURRENCY, CURRENCIES, priceIn, type Currency } from './currency';
import { parse } from './input';
import { pageOf } from './paging';

type Compare = (one: Product, other: Product) => number;

const SORTS = {
  DATE_DESC: (one, other) => other.addedAtMs - one.addedAtMs,
  DATE_ASC: (one, other) => one.addedAtMs - other.addedAtMs,
  PRICE_ASC: (one, other) => one.unitMinor - other.unitMinor,
  PRICE_DESC: (one, other) => other.unitMinor - one.unitMinor,
  ALPHABET_ASC: (one, other) => compareText(one.title, other.title),
  ALPHABET_DESC: (one, other) => compareText(other.title, one.title),
} as const satisfies Record<string, Compare>;

const SORT_NAMES = Object.keys(SORTS) as (keyof typeof SORTS)[];

const listQuery = z.object({
  query: z.string().default(''),
  in_stock: z.enum(['true', 'false']).optional(),
  sort: z.enum(SORT_NAMES).optional(),
  currency: z.enum(CURRENCIES).default(ACCOUNT_CURRENCY),
});

/**
 * The catalogue as `GET …/products` shows it.
 *
 * @throws BadInput for an invalid parameter
 */
export function listProducts(catalogue: Catalogue, query: URLSearchParams) {
  const { query: search, in_stock: inStock, sort, currency } = parse(listQuery, Object.fromEntries(query));
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const matching = [...catalogue.values()]
    .filter(({ stock }) => inStock === undefined || stock > 0 === (inStock === 'true'))
    .filter((product) => words.every((word) => relevance(product, word) > 0));
  // Ties keep the order of the catalogue, so that pages never overlap.
  const sorted = matching.sort(sort === undefined ? byRelevance(words) : SORTS[sort]);
  const page = pageOf(sorted, query, { page: 'page', limit: 'limit' });
  return { ...page, elements: page.elements.map((product) => shown(product, currency)) };
}

function byRelevance(words: string[]): Compare {
  const score = (product: Product): number => words.reduce((total, word) => total + relevance(product, word), 0);
  return (one, other) => score(other) - score(one) || other.popularity - one.popularity;
}

/** A match at the start of the title counts most, a match in the keywords least. */
function relevance(product: Product, word: string): number {
  const title = product.title.toLowerCase();
  if (title.startsWith(word)) return 3;
  if (title.includes(word)) return 2;
  return product.keywords.toLowerCase().includes(word) ? 1 : 0;
}

function compareText(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** A product as the API shows it. */
function shown(product: Product, currency: Currency) {
  const { id, title, whitelist, blacklist } = product;
  const price = priceIn(currency, product.unitMinor);
  return { id, title, restrictions: { whitelist, blacklist }, quantity: product.stock, price, currency };
}
