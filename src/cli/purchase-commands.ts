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
import type { ListFilter, Starter, StarterOptions } from '../starter/index';

const OTHER_OUTCOME = 3;
const MOST_AS_TEXT = 100;
const MOST_AS_JSON = 10_000;
const REFERENCE = 'the reference of the sale';

type StarterOf = (options?: StarterOptions) => Promise<Starter>;

/** The commands for single purchases. They need Temporal and nothing else. */
export function addPurchaseCommands(program: Command, context: StarterContext): void {
  const starterOf: StarterOf = async (options) => loadLibrary().createStarter(await context.temporal(), options);
  program
    .command('purchase')
    .description('start the purchase of a sale, or find the one that this reference already has')
    .argument('<reference>', 'one for each sale', reference)
    .requiredOption('--item <product:quantity>', 'what was sold; repeat it for more products', item)
    .option('--max-debit <amount>', 'the most that it may cost: more by the catalogue, and it is not placed', amount)
    .option('--wait', 'wait for the end; exit code 3 unless everything was delivered')
    .action((referenceId: string, options: PurchaseOptions) => purchase(context, starterOf, referenceId, options));
  program
    .command('status')
    .description('where a purchase stands, its deliveries too')
    .argument('<reference>', REFERENCE, reference)
    .action(async (referenceId: string) => showStatus(context.out, await (await starterOf()).status(referenceId)));
  addOperatorCommands(program, context, starterOf);
}

/** The commands of a person who looks after purchases. */
function addOperatorCommands(program: Command, context: StarterContext, starterOf: StarterOf): void {
  const { out } = context;
  program
    .command('resolve')
    .description("a person's decision on a purchase that is held; `status` shows which fit")
    .argument('<reference>', REFERENCE, reference)
    .option('--order <id>', DECISIONS.order, orderId)
    .option('--replace', DECISIONS.replace)
    .option('--abandon', DECISIONS.abandon)
    .option('--deliver', DECISIONS.deliver)
    .option('--withhold', DECISIONS.withhold)
    .action(async (referenceId: string, options: DecisionOptions) => {
      const choice = choiceOf(options);
      showResolution(out, await (await starterOf()).resolve(referenceId, choice));
    });
  program
    .command('list')
    .description(
      'who waits for a person, with the commands that fit: purchases that are held, and those that ended without a result ' +
        '(terminated, failed) in the last 24h. Shows the 100 started last, with --json 10,000',
    )
    .option('--state <state>', 'the purchases in this state instead, such as PENDING or OVERDUE', purchaseState)
    .option('--since <duration>', 'only since then, such as 8h: held, ended, or else started', period)
    .action(async ({ state, since }: { state?: PurchaseState; since?: number }) => {
      const filter: ListFilter = { state, sinceMs: since, limit: out.json ? MOST_AS_JSON : MOST_AS_TEXT };
      showList(out, await (await starterOf()).list(filter), filter);
    });
  program
    .command('cancel')
    .description('ask a purchase to end where surely nothing was bought; else it is seen through')
    .argument('<reference>', REFERENCE, reference)
    .action(async (referenceId: string) => showCancellation(out, await (await starterOf()).cancel(referenceId)));
  program
    .command('redeliver')
    .description('bring the checkout up to date once more: its order is read, and all keys of the sale are delivered')
    .argument('<reference>', REFERENCE, reference)
    .action(async (referenceId: string) => {
      const starter = await starterOf();
      showRedelivery(out, await starter.redeliver(referenceId));
    });
}

interface PurchaseOptions {
  item: PurchaseItem[];
  maxDebit?: number;
  wait?: boolean;
}

async function purchase(
  context: StarterContext,
  starterOf: StarterOf,
  referenceId: string,
  { item: items, maxDebit, wait }: PurchaseOptions,
): Promise<void> {
  const faults = validateItems(items);
  if (faults.length > 0) throw new InvalidPurchaseError(faults);
  const starter = await starterOf({ taskQueue: context.taskQueue() });
  const started = await starter.purchase({ referenceId, items, maxDebit });
  if (!wait) return showStarted(context.out, started);
  context.out.note(`${started.started ? 'started' : 'found'} ${started.workflowId}; waiting for its end`);
  const result = await starter.result(referenceId);
  showStarted(context.out, started, result);
  if (result.outcome !== 'DELIVERED') context.exitCode = OTHER_OUTCOME;
}

type DecisionOptions = Partial<Record<Exclude<DecisionKind, 'order'>, boolean>> & { order?: string };

function choiceOf({ order, ...flags }: DecisionOptions): DecisionChoice {
  const others = (['replace', 'abandon', 'deliver', 'withhold'] as const).filter((kind) => flags[kind]);
  const choices: DecisionChoice[] = others.map((decision) => ({ decision }));
  if (order !== undefined) choices.unshift({ decision: 'order', orderId: order });
  const [choice] = choices;
  if (choice && choices.length === 1) return choice;
  const got = choices.map(({ decision }) => `--${decision}`).join(' and ') || 'none';
  throw new StarterError(
    `expected exactly one of --order ID, --replace, --abandon, --deliver, --withhold, got ${got}`,
    2,
  );
}
