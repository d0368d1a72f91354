import { z } from 'zod';
import { digits, integer, parse } from './input';

const pageNumber = digits.pipe(integer(1)).prefault('1');
const pageSize = digits.pipe(integer(1, 500)).prefault('50');

/** One page of a list. */
export interface Paged<T> {
  hits: number;
  elements: T[];
  pages: { page: number; total: number; limit: number };
}

/** The names of the query parameters. */
export interface PageParams {
  page: string;
  limit: string;
}

/**
 * Returns the requested page. A page after the last is empty.
 *
 * @throws BadInput for a page or limit that is not a positive integer, and for a limit above 500
 */
export function pageOf<T>(
  matching: readonly T[],
  query: URLSearchParams,
  params: PageParams,
  maxPageSize = Infinity,
): Paged<T> {
  const schema = z.object({ [params.page]: pageNumber, [params.limit]: pageSize });
  const { [params.page]: page = 1, [params.limit]: asked = 1 } = parse(schema, Object.fromEntries(query));
  const limit = Math.min(asked, maxPageSize);
  return {
    hits: matching.length,
    elements: matching.slice((page - 1) * limit, page * limit),
    pages: { page, total: Math.ceil(matching.length / limit), limit },
  };
}
