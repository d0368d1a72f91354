import type { Client } from '@temporalio/client';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import type { PurchaseItem, PurchaseResult } from '../contracts/purchase';
import { faultsOfReference } from '../domain/purchase-rules';
import type { PartnerClient } from '../partner';
import { CURRENCIES, PRODUCT_SORTS, type ProductQuery } from '../partner';
import { exitWith } from '../temporal/exit';
import { registerSearchAttributes } from '../temporal/search-attributes';
import { listOrders, listProducts, type Listing } from './lists';
import { type Output, show, showStarted, showStatus } from './output';
import { createStarter, type Starter } from './purchases';

/** What the commands work with; each is built only by the commands that need it. */
export interface StarterContext {
  temporal(): Promise<{ client: Client; taskQueue: string }>;
  partner(): PartnerClient;
  out: Output;
}

const EXIT = { done: 0, error: 1, usage: 2, otherOutcome: 3 } as const;

/** Parses the command line, does what it says, and sets the exit code. Errors are one message on stderr. */
export async function runStarter(argv: readonly string[], context: StarterContext): Promise<void> {
  const program = commands(context);
  try {
    await program.parseAsync([...argv]);
  } catch (error) {
    if (!(error instanceof CommanderError)) return exitWith(error);
    process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage;
  }
}

function commands(context: StarterContext): Command {
  const program = new Command('starter')
    .description('Starts purchases and shows where they stand.')
    .option('--json', 'print one JSON document on stdout and nothing else')
    .showHelpAfterError('(--help shows what there is)')
    .exitOverride();
  program.hook('preAction', (_program, action) => {
    context.out.json = action.optsWithGlobals().json === true;
  });

  program
    .command('purchase')
    .description('start the purchase of a sale, or find the one that this reference already has')
    .argument('<reference>', 'one for each sale', reference)
    .requiredOption('--item <product:quantity>', 'what was sold; repeat it for more products', item, [])
    .option('--wait', 'wait for the end; exit code 3 unless everything was delivered')
    .action((referenceId: string, options: { item: PurchaseItem[]; wait?: boolean }) =>
      purchase(context, referenceId, options),
    );
  program
    .command('status')
    .description('where a purchase stands, its deliveries too')
    .argument('<reference>', 'the reference of the sale', reference)
    .action(async (referenceId: string) => showStatus(context.out, await (await starter(context)).status(referenceId)));
  program
    .command('products')
    .description("the partner's catalogue")
    .option('--query <words>', 'search by title or keywords')
    .addOption(new Option('--in-stock <which>', 'only in stock, or only out of stock').choices(['true', 'false']))
    .addOption(new Option('--sort <order>', 'the order; without it by relevance').choices([...PRODUCT_SORTS]))
    .addOption(new Option('--currency <code>', 'the currency of prices').choices([...CURRENCIES]))
    .option('--page <n>', 'page number, from 1', positive)
    .option('--limit <n>', 'products per page, up to 500', positive)
    .option('--all', 'all pages')
    .action((options: ProductQuery & { inStock?: 'true' | 'false'; all?: boolean }) => products(context, options));
  program
    .command('orders')
    .description("the partner's order history")
    .option('--search <id>', 'an order id or a reference')
    .option('--page <n>', 'page number, from 1', positive)
    .option('--limit <n>', 'orders per page, up to 500', positive)
    .option('--all', 'all pages')
    .action((options: Listing & { search?: string }) =>
      withPartner(context, (partner) => listOrders(partner, context.out, options)),
    );
  program
    .command('setup')
    .description('register the search attributes in the namespace; safe to repeat')
    .action(() => setup(context));
  for (const command of program.commands)
    command.option('--json', 'print one JSON document on stdout and nothing else');
  return program;
}

async function purchase(
  context: StarterContext,
  referenceId: string,
  options: { item: PurchaseItem[]; wait?: boolean },
): Promise<void> {
  const library = await starter(context);
  const started = await library.purchase({ referenceId, items: options.item });
  if (!options.wait) return showStarted(context.out, started);
  context.out.note(`${started.started ? 'started' : 'found'} ${started.workflowId}; waiting for its end`);
  const result: PurchaseResult = await library.result(referenceId);
  showStarted(context.out, started, result);
  process.exitCode = result.outcome === 'DELIVERED' ? EXIT.done : EXIT.otherOutcome;
}

function products(
  context: StarterContext,
  { inStock, all, ...query }: Omit<ProductQuery, 'inStock'> & { inStock?: 'true' | 'false'; all?: boolean },
): Promise<void> {
  const wanted = inStock === undefined ? query : { ...query, inStock: inStock === 'true' };
  return withPartner(context, (partner) => listProducts(partner, context.out, { ...wanted, all }));
}

async function setup(context: StarterContext): Promise<void> {
  const { client } = await context.temporal();
  const { namespace } = client.options;
  const registered = await registerSearchAttributes(client.connection, namespace);
  const words = registered.length > 0 ? `registered ${registered.join(', ')}` : 'everything was there';
  show(context.out, { namespace, registered }, `namespace ${namespace}: ${words}`);
}

async function withPartner(context: StarterContext, work: (partner: PartnerClient) => Promise<void>): Promise<void> {
  const partner = context.partner();
  try {
    await work(partner);
  } finally {
    await partner.close();
  }
}

async function starter(context: StarterContext): Promise<Starter> {
  const { client, taskQueue } = await context.temporal();
  return createStarter(client, { taskQueue });
}

function reference(value: string): string {
  const [fault] = faultsOfReference(value);
  if (fault) throw new InvalidArgumentError(fault);
  return value;
}

/** `PRODUCT:QUANTITY`; the last colon separates, because a product id may hold one. */
function item(value: string, before: PurchaseItem[]): PurchaseItem[] {
  const colon = value.lastIndexOf(':');
  const quantity = value.slice(colon + 1);
  if (colon < 1 || !/^\d{1,9}$/.test(quantity)) {
    throw new InvalidArgumentError(`expected PRODUCT:QUANTITY such as steam-50:2, got ${value}`);
  }
  return [...before, { productId: value.slice(0, colon), quantity: Number(quantity) }];
}

function positive(value: string): number {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 1)
    throw new InvalidArgumentError(`expected a whole number from 1, got ${value}`);
  return number;
}
