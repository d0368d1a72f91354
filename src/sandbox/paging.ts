import { BadInput } from './input';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 500;

export interface Page {
  page: number;
  limit: number;
}

/** What both lists say about their pages. */
export interface Paged<T> {
  hits: number;
  elements: T[];
  pages: { page: number; total: number; limit: number };
}

/**
 * Page and limit of a list request.
 * @throws BadInput for what is not a positive integer, and for a limit above 500
 */
export function pageOf(query: URLSearchParams, pageParam: string, limitParam: string): Page {
  return {
    page: positive(query.get(pageParam), pageParam, 1, Number.MAX_SAFE_INTEGER),
    limit: positive(query.get(limitParam), limitParam, DEFAULT_LIMIT, MAX_LIMIT),
  };
}

/** One page of all that matches; a page beyond the last is empty. */
export function cut<T>(matching: readonly T[], { page, limit }: Page): Paged<T> {
  return {
    hits: matching.length,
    elements: matching.slice((page - 1) * limit, page * limit),
    pages: { page, total: Math.ceil(matching.length / limit), limit },
  };
}

function positive(value: string | null, name: string, otherwise: number, most: number): number {
  if (value === null) return otherwise;
  const number = Number(value);
  if (/^\d+$/.test(value) && number >= 1 && number <= most) return number;
  throw new BadInput(`${name}: needs an integer from 1${most === MAX_LIMIT ? ` to ${MAX_LIMIT}` : ''}`);
}
