import type { Command } from 'commander';
import { DECISIONS } from '../contracts/operator-commands';
import type { DecisionChoice } from '../contracts/purchase';
import type { DecisionKind } from '../domain/holds';
import type { PurchaseItem } from '../domain/order';
import { validateItems } from '../domain/purchase-rules';
import type { PurchaseState } from '../domain/purchase-state';
import { amount, item, orderId, period, purchaseState, reference } from './command-arguments';
import { loadLibrary, type StarterContext } from './context';
import { InvalidPurchaseError, StarterError } from '../starter/errors';
import { showCancellation, showList, showRedelivery, showResolution, showStarted, showStatus } from './output';
import type { StarterOptions } from '../starter/index';

const OTHER_OUTCOME = 3;
const MOST_AS_TEXT = 100;
const MOST_AS_JSON = 10_000;

/** The commands for single purchases. They need Temporal and nothing else. */
export function addPurchaseCommands(program: Command, context: StarterContext): void {
  const { out } = context;
  const add = (name: string, description: string, aboutReference = 'the reference of the sale') =>
    program.command(name).description(description).argument('<reference>', aboutReference, reference);
  add('purchase', 'start the purchase of a sale, or find the one that this reference already has', 'one for each sale')
    .requiredOption('--item <product:quantity>', 'what was sold; repeat it for more products', item)
    .option('--max-debit <amount>', 'the most that it may cost: more by the catalogue, and it is not placed', amount)
    .option('--wait', 'wait for the end; exit code 3 unless everything was delivered')
    .action((referenceId: string, options: PurchaseOptions) => purchase(context, referenceId, options));
  add('status', 'where a purchase stands, its deliveries too').action(async (referenceId: string) =>
    showStatus(out, await (await starterOf(context)).status(referenceId)),
  );
  add('resolve', "a person's decision on a purchase that is held; `status` shows which fit")
    .option('--order <id>', DECISIONS.order, orderId)
    .option('--replace', DECISIONS.replace)
    .option('--abandon', DECISIONS.abandon)
    .option('--deliver', DECISIONS.deliver)
    .option('--withhold', DECISIONS.withhold)
    .action(async (referenceId: string, options: DecisionOptions) => {
      const choice = choiceOf(options);
      showResolution(out, await (await starterOf(context)).resolve(referenceId, choice));
    });
  addList(program, context);
  add('cancel', 'ask a purchase to end where surely nothing was bought; else it is seen through').action(
    async (referenceId: string) => showCancellation(out, await (await starterOf(context)).cancel(referenceId)),
  );
  const redeliver =
    'bring the checkout up to date once more: its order is read, and all keys of the sale are delivered';
  add('redeliver', redeliver).action(async (referenceId: string) =>
    showRedelivery(out, await (await starterOf(context)).redeliver(referenceId)),
  );
}

function addList(program: Command, context: StarterContext): void {
  program
    .command('list')
    .description(
      'who waits for a person, with the commands that fit: purchases that are held, and those that ended without a result ' +
        '(terminated, failed) in the last 24h. Shows the 100 started last, with --json 10,000',
    )
    .option('--state <state>', 'the purchases in this state instead, such as PENDING or OVERDUE', purchaseState)
    .option('--since <duration>', 'only since then, such as 8h: held, ended, or else started', period)
    .action(async ({ state, since: sinceMs }: { state?: PurchaseState; since?: number }) => {
      const filter = { state, sinceMs, limit: context.out.json ? MOST_AS_JSON : MOST_AS_TEXT };
      showList(context.out, await (await starterOf(context)).list(filter), filter);
    });
}

async function starterOf(context: StarterContext, options?: StarterOptions) {
  return loadLibrary().createStarter(await context.temporal(), options);
}

interface PurchaseOptions {
  item: PurchaseItem[];
  maxDebit?: number;
  wait?: boolean;
}

async function purchase(context: StarterContext, referenceId: string, options: PurchaseOptions): Promise<void> {
  const { item: items, maxDebit, wait } = options;
  const faults = validateItems(items);
  if (faults.length > 0) throw new InvalidPurchaseError(faults);
  const starter = await starterOf(context, { taskQueue: context.taskQueue() });
  const started = await starter.purchase({ referenceId, items, maxDebit });
  if (!wait) return showStarted(context.out, started);
  context.out.note(`${started.started ? 'started' : 'found'} ${started.workflowId}; waiting for its end`);
  const result = await starter.result(referenceId);
  showStarted(context.out, started, result);
  if (result.outcome !== 'DELIVERED') context.exitCode = OTHER_OUTCOME;
}

type DecisionOptions = { [Kind in DecisionKind]?: Kind extends 'order' ? string : true };

function choiceOf(options: DecisionOptions): DecisionChoice {
  const kinds = (Object.keys(DECISIONS) as DecisionKind[]).filter((kind) => options[kind]);
  const [decision] = kinds;
  if (!decision || kinds.length > 1) {
    const got = kinds.map((kind) => `--${kind}`).join(' and ') || 'none';
    const expected = 'exactly one of --order ID, --replace, --abandon, --deliver, --withhold';
    throw new StarterError(`expected ${expected}, got ${got}`, 2);
  }
  return decision === 'order' ? { decision, orderId: String(options.order) } : { decision };
}
