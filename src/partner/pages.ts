import { IncompleteListError, type PartnerOperation } from './errors';
import type { PagePosition } from './types';

export interface ListPage<Row> {
  hits: number;
  rows: Row[];
  pages: PagePosition;
}

const MOST_ROUNDS = 20;

/**
 * All rows of all pages, each id once, while rows come, go and move between the reads. New rows push old ones to later
 * pages, which only shows some twice; rows that go or move let others slip past unread. So the distinct rows are
 * counted against the partner's `hits`, and the pages are read again from the first until none is missing. A row that
 * goes just as another comes leaves the count as it was: that one can't be seen.
 *
 * @throws IncompleteListError after the last row, where the pages never hold as many rows as the partner counts.
 */
export async function* allRows<Row extends { id: string }>(
  operation: PartnerOperation,
  readPage: (page: number) => Promise<ListPage<Row>>,
): AsyncGenerator<Row> {
  const yielded = new Set<string>();
  const counted = new Set<string>();
  let hits = 0;
  for (let round = 1; round <= MOST_ROUNDS; round++) {
    let shrank = false;
    let foundNew = false;
    for (let page = 1; ; page++) {
      const read = await readPage(page);
      // Rows that went are still among the counted and would stand in for some that were missed.
      if (read.hits < hits && page === 1) counted.clear();
      else if (read.hits < hits) shrank = true;
      hits = read.hits;
      for (const row of read.rows) {
        foundNew ||= !counted.has(row.id);
        counted.add(row.id);
        if (yielded.has(row.id)) continue;
        yielded.add(row.id);
        yield row;
      }
      const isLast = read.rows.length === 0 || page >= read.pages.total || read.pages.page !== page;
      const caughtUp = round > 1 && !shrank && counted.size >= hits;
      if (isLast || caughtUp) break;
    }
    if (!shrank && counted.size >= hits) return;
    if (shrank) counted.clear();
    else if (round > 1 && !foundNew) break;
  }
  throw new IncompleteListError(operation, counted.size, hits);
}
