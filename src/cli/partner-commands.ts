import { type Command, Option } from 'commander';
import type { HistoryRow, OrderQuery, PartnerClient, Product, ProductQuery } from '../partner';
// The index would load the partner's client.
import { CURRENCIES, PRODUCT_SORTS } from '../partner/types';
import { oneOf, pageNumber, pageSize, searchText } from './command-arguments';
import type { StarterContext } from './context';
import { type Output, safeText, show } from './output';

interface Listing {
  page?: number;
  limit?: number;
  /** All pages. */
  all?: boolean;
}

type ProductOptions = Omit<ProductQuery, 'inStock'> & Listing & { inStock?: 'true' | 'false' };

/** Adds the commands that call the partner. */
export function addPartnerCommands(program: Command, context: StarterContext): void {
  const withPartner = async (work: (partner: PartnerClient) => Promise<void>) => {
    const partner = context.partner();
    try {
      await work(partner);
    } finally {
      await partner.close();
    }
  };
  const addListing = (command: Command) =>
    command
      .addOption(new Option('--page <n>', 'page number, from 1').argParser(pageNumber).conflicts('all'))
      .option('--limit <n>', `${command.name()} per page, up to 500`, pageSize)
      .option('--all', 'all pages');
  const products = program
    .command('products')
    .description("show the partner's catalogue")
    .option('--query <words>', 'search by title or keywords')
    .addOption(choice('--in-stock <which>', 'only products in stock, or only products out of stock', ['true', 'false']))
    .addOption(choice('--sort <order>', 'sort order; relevance if not given', PRODUCT_SORTS))
    .addOption(choice('--currency <code>', 'the currency of the prices', CURRENCIES));
  addListing(products).action(({ inStock: written, ...query }: ProductOptions) => {
    const inStock = written === undefined ? undefined : written === 'true';
    return withPartner((partner) => listProducts(partner, context.out, { ...query, inStock }));
  });
  const orders = program
    .command('orders')
    .description("show the partner's order history")
    .option('--search <id>', 'an order id or a reference', searchText);
  addListing(orders).action((query: OrderQuery & Listing) =>
    withPartner((partner) => listOrders(partner, context.out, query)),
  );
}

/** An option with a fixed set of values, which the help and the completion list. */
function choice(flags: string, description: string, choices: readonly string[]): Option {
  const option = new Option(flags, description).choices(choices);
  return option.argParser(oneOf(`${option.long}`, choices));
}

/**
 * Prints one page of the catalogue, or all pages.
 *
 * @throws PartnerError
 */
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
  show(out, { ...data, unreadable: data.unreadable.map(shownRow) }, [
    ...data.products.map(formatProduct),
    ...unreadable,
    formatPosition(data),
  ]);
}

/**
 * Prints one page of the order history, or all pages.
 *
 * @throws PartnerError
 */
export async function listOrders(
  partner: PartnerClient,
  out: Output,
  { all, ...query }: OrderQuery & Listing,
): Promise<void> {
  if (all) return showAll(out, 'orders', partner.orders(query), formatOrder, shownRow);
  const { data } = await partner.listOrders(query);
  const rows = [...data.orders, ...data.unreadable].map(formatOrder);
  show(out, { ...data, unreadable: data.unreadable.map(shownRow) }, [...rows, formatPosition(data)]);
}

/** As text, each row is printed when it arrives. A JSON document is printed after the last row. */
async function showAll<T>(
  out: Output,
  name: string,
  rows: AsyncIterable<T>,
  format: (row: T) => string,
  documentOf: (row: T) => unknown = (row) => row,
): Promise<void> {
  const all: unknown[] = [];
  let hits = 0;
  for await (const row of rows) {
    hits += 1;
    if (out.json) all.push(documentOf(row));
    else out.write(`${format(row)}\n`);
  }
  if (out.json) show(out, { hits, [name]: all });
  else out.note(`${hits} in total`);
}

function formatProduct(product: Product): string {
  const price = `${product.price.toFixed(2)} ${safeText(product.currency)}`;
  const quantity = String(product.quantity ?? '?').padStart(7);
  return `${safeText(product.id).padEnd(28)} ${price.padStart(14)} ${quantity} in stock  ${safeText(product.title)}`;
}

/** A row in a JSON document. The digest of an unreadable row is left out, because it may be the digest of a key. */
function shownRow(row: HistoryRow) {
  if (!('problems' in row)) return row;
  const { id, referenceId, createdAt, problems } = row;
  return { id, referenceId, createdAt, problems };
}

function formatOrder(row: HistoryRow): string {
  const { createdAt = 'no date', id = 'no id', referenceId = '' } = row;
  const [status, item = ''] =
    'problems' in row ? ["can't be read", `expected ${row.problems.join(', ')}`] : [row.status, row.item?.title];
  const names = `${safeText(id).padEnd(24)} ${safeText(status).padEnd(18)} ${safeText(referenceId).padEnd(24)}`;
  return `${safeText(createdAt)}  ${names} ${safeText(item)}`;
}

function formatPosition({ hits, pages }: { hits: number; pages: { page: number; total: number } }): string {
  return `page ${pages.page} of ${pages.total}, ${hits} in total`;
}
