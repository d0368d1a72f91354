import { type Command, Option } from 'commander';
import type { PartnerClient, ProductQuery } from '../partner';
// Not from its index, which loads the client.
import { CURRENCIES, PRODUCT_SORTS } from '../partner/types';
import { pageNumber, pageSize, searchText } from './command-arguments';
import { listOrders, listProducts, type Listing } from './lists';
import type { StarterContext } from './context';

type ProductOptions = Omit<ProductQuery, 'inStock'> & Listing & { inStock?: 'true' | 'false' };

/** The commands that ask the partner. */
export function addPartnerCommands(program: Command, context: StarterContext): void {
  program
    .command('products')
    .description("the partner's catalogue")
    .option('--query <words>', 'search by title or keywords')
    .addOption(new Option('--in-stock <which>', 'only in stock, or only out of stock').choices(['true', 'false']))
    .addOption(new Option('--sort <order>', 'the order; without it by relevance').choices([...PRODUCT_SORTS]))
    .addOption(new Option('--currency <code>', 'the currency of prices').choices([...CURRENCIES]))
    .option('--page <n>', 'page number, from 1', pageNumber)
    .option('--limit <n>', 'products per page, up to 500', pageSize)
    .option('--all', 'all pages')
    .action(({ inStock, ...query }: ProductOptions) =>
      withPartner(context, (partner) =>
        listProducts(partner, context.out, {
          ...query,
          inStock: inStock === undefined ? undefined : inStock === 'true',
        }),
      ),
    );
  program
    .command('orders')
    .description("the partner's order history")
    .option('--search <id>', 'an order id or a reference', searchText)
    .option('--page <n>', 'page number, from 1', pageNumber)
    .option('--limit <n>', 'orders per page, up to 500', pageSize)
    .option('--all', 'all pages')
    .action((options: Listing & { search?: string }) =>
      withPartner(context, (partner) => listOrders(partner, context.out, options)),
    );
}

async function withPartner(context: StarterContext, work: (partner: PartnerClient) => Promise<void>): Promise<void> {
  const partner = context.partner();
  try {
    await work(partner);
  } finally {
    await partner.close();
  }
}
