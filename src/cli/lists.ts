import type {
  HistoryOrder,
  HistoryRow,
  OrderQuery,
  PartnerClient,
  Product,
  ProductQuery,
  UnreadableRow,
} from '../partner/index';
import { loadPartner } from './lazy';
import { type Output, show, shown } from './output';

/** Which part of a list to show. */
export interface Listing {
  page?: number;
  limit?: number;
  all?: boolean;
}

/** Prints the catalogue, a page or all of it. @throws PartnerError */
export async function listProducts(
  partner: PartnerClient,
  out: Output,
  { all, ...query }: ProductQuery & Listing,
): Promise<void> {
  if (all) return showAll(out, 'products', partner.products(query), formatProduct);
  const { data } = await partner.listProducts(query);
  const unreadable = data.unreadable.map(
    ({ problems }) => `a product that can't be read: expected ${problems.join(', ')}`,
  );
  show(out, data, [...data.products.map(formatProduct), ...unreadable, formatPosition(data)].join('\n'));
}

/** Prints the order history, a page or all of it. @throws PartnerError */
export async function listOrders(
  partner: PartnerClient,
  out: Output,
  { all, ...query }: OrderQuery & Listing,
): Promise<void> {
  if (all) return showAll(out, 'orders', shownRows(partner.orders(query)), formatOrder);
  const { data } = await partner.listOrders(query);
  const unreadable = data.unreadable.map(shownRow);
  const rows = [...data.orders, ...unreadable].map(formatOrder);
  show(out, { ...data, unreadable }, [...rows, formatPosition(data)].join('\n'));
}

/** As text each row is printed as it comes; a JSON document has to wait for the last. */
async function showAll<T>(
  out: Output,
  name: string,
  rows: AsyncIterable<T>,
  format: (row: T) => string,
): Promise<void> {
  const all: T[] = [];
  for await (const row of rows) {
    all.push(row);
    if (!out.json) out.write(`${format(row)}\n`);
  }
  if (out.json) show(out, { hits: all.length, [name]: all }, '');
}

function formatProduct(product: Product): string {
  const price = `${product.price.toFixed(2)} ${shown(product.currency)}`;
  const quantity = String(product.quantity).padStart(7);
  return `${shown(product.id).padEnd(28)} ${price.padStart(14)} ${quantity} in stock  ${shown(product.title)}`;
}

type ShownRow = HistoryOrder | ReturnType<typeof shownRow>;

async function* shownRows(rows: AsyncIterable<HistoryRow>): AsyncGenerator<ShownRow> {
  for await (const row of rows) yield loadPartner().isUnreadable(row) ? shownRow(row) : row;
}

function shownRow({ id, referenceId, createdAt, problems }: UnreadableRow) {
  return { id, referenceId, createdAt, problems };
}

function formatOrder(row: ShownRow): string {
  const { createdAt = 'no date', id = 'no id', referenceId = '' } = row;
  const [status, item = ''] =
    'problems' in row ? ["can't be read", `expected ${row.problems.join(', ')}`] : [row.status, row.item?.title];
  const names = `${shown(id).padEnd(24)} ${shown(status).padEnd(18)} ${shown(referenceId).padEnd(24)}`;
  return `${shown(createdAt)}  ${names} ${shown(item)}`;
}

function formatPosition({ hits, pages }: { hits: number; pages: { page: number; total: number } }): string {
  return `page ${pages.page} of ${pages.total}, ${hits} in all`;
}
