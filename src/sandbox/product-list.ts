import type { Catalogue, Product } from './catalogue';
import { ACCOUNT_CURRENCY, CURRENCIES, priceIn, type Currency } from './currency';
import { oneOf } from './input';
import { cut, pageOf, type Paged } from './paging';

/** A product as the interface shows it. */
export interface ShownProduct {
  id: string;
  title: string;
  restrictions: { whitelist: string[]; blacklist: string[] };
  quantity: number;
  price: number;
  currency: Currency;
}

type Compare = (one: Product, other: Product) => number;

const byTitle: Compare = (one, other) => compareText(one.title, other.title);

const SORTS = {
  DATE_DESC: (one, other) => other.addedAtMs - one.addedAtMs,
  DATE_ASC: (one, other) => one.addedAtMs - other.addedAtMs,
  PRICE_ASC: (one, other) => one.unitMinor - other.unitMinor,
  PRICE_DESC: (one, other) => other.unitMinor - one.unitMinor,
  ALPHABET_ASC: byTitle,
  ALPHABET_DESC: (one, other) => byTitle(other, one),
} as const satisfies Record<string, Compare>;

const SORT_NAMES = Object.keys(SORTS) as (keyof typeof SORTS)[];

/**
 * The catalogue as `GET …/products` shows it.
 * @throws BadInput for a parameter out of its values
 */
export function listProducts(catalogue: Catalogue, query: URLSearchParams): Paged<ShownProduct> {
  const currency = oneOf(query.get('currency') ?? ACCOUNT_CURRENCY, 'currency', CURRENCIES);
  const page = cut(matching(catalogue, query).sort(inOrder(query)), pageOf(query, 'page', 'limit'));
  return { ...page, elements: page.elements.map((product) => shown(product, currency)) };
}

function matching(catalogue: Catalogue, query: URLSearchParams): Product[] {
  const words = wordsOf(query);
  const stock = query.get('in_stock');
  const wanted = stock === null ? undefined : oneOf(stock, 'in_stock', ['true', 'false']) === 'true';
  return [...catalogue.values()].filter(
    (product) =>
      (wanted === undefined || product.stock > 0 === wanted) && words.every((word) => relevance(product, word) > 0),
  );
}

/** Ties stay in the catalogue's own order, so that pages never overlap. */
function inOrder(query: URLSearchParams): Compare {
  const sort = query.get('sort');
  return sort === null ? byRelevance(wordsOf(query)) : SORTS[oneOf(sort, 'sort', SORT_NAMES)];
}

function byRelevance(words: string[]): Compare {
  const score = (product: Product): number => words.reduce((total, word) => total + relevance(product, word), 0);
  return (one, other) => score(other) - score(one) || other.popularity - one.popularity;
}

/** A word at the start of the title counts most, in the keywords least. */
function relevance(product: Product, word: string): number {
  const title = product.title.toLowerCase();
  if (title.startsWith(word)) return 3;
  if (title.includes(word)) return 2;
  return product.keywords.toLowerCase().includes(word) ? 1 : 0;
}

function wordsOf(query: URLSearchParams): string[] {
  return (query.get('query') ?? '')
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
}

function compareText(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

function shown(product: Product, currency: Currency): ShownProduct {
  const { id, title, whitelist, blacklist } = product;
  const price = priceIn(currency, product.unitMinor);
  return { id, title, restrictions: { whitelist, blacklist }, quantity: product.stock, price, currency };
}
