import { type Command, Option } from 'commander';
import { command, DECISION_SUMMARIES } from '../contracts/operator-commands';
import type { HoldDecision } from '../contracts/purchase';
import type { Decision } from '../domain/holds';
import type { PurchaseItem } from '../domain/purchase-item';
import { validateItems } from '../domain/purchase-rules';
import { PURCHASE_STATES, type PurchaseState } from '../domain/purchase-state';
import { describeNamespace } from '../starter/describe-namespace';
import { InvalidPurchaseError } from '../starter/errors';
import { amount, item, orderId, period, purchaseState, reference } from './command-arguments';
import { loadLibrary, loadStateWatch, type StarterContext } from './context';
import {
  formatStart,
  showCancellation,
  showList,
  showRedelivery,
  showResolution,
  showStarted,
  showStatus,
} from './output';
import { UsageError } from './usage-errors';

const PURCHASE_USAGE = 'REFERENCE --item PRODUCT:QUANTITY [--max-debit AMOUNT] [--wait]';
const NOTHING_SENT = 1;
const OTHER_OUTCOME = 3;
const MAX_ROWS_AS_TEXT = 100;
const MAX_ROWS_AS_JSON = 10_000;

/** Adds the commands for purchases. They need only Temporal. */
export function addPurchaseCommands(program: Command, context: StarterContext): void {
  const { out } = context;
  const add = (name: string, description: string, aboutReference = 'the reference of the sale') =>
    program.command(name).description(description).argument('<reference>', aboutReference, reference);
  add('purchase', 'start the purchase of a sale, or find it if it already exists', 'a new reference for each sale')
    .usage(PURCHASE_USAGE)
    .option(
      '--item <product:quantity>',
      'what was sold, such as gift-card-50:2; repeat the option for more products',
      item,
    )
    .option('--max-debit <amount>', 'place no order if the catalogue total exceeds this amount or is unknown', amount)
    .option('--wait', 'wait until it ends and show each state; exit code 3 unless everything was delivered')
    .action((referenceId: string, options: PurchaseOptions) => purchase(context, referenceId, options));
  add('status', 'show the state of a purchase and its deliveries').action(async (referenceId: string) =>
    showStatus(out, await (await starterOf(context)).status(referenceId)),
  );
  add(
    'resolve',
    'decide what happens to a held purchase, with one of --order, --replace, --abandon, --deliver and --withhold; `status` shows which are possible',
  )
    .option('--order <id>', DECISION_SUMMARIES.order, orderId)
    .option('--replace', DECISION_SUMMARIES.replace)
    .option('--abandon', DECISION_SUMMARIES.abandon)
    .option('--deliver', DECISION_SUMMARIES.deliver)
    .option('--withhold', DECISION_SUMMARIES.withhold)
    .option('--hold <id>', 'apply only to this hold, as `status` shows it, and never to a later one')
    .action(async (referenceId: string, { hold: holdId, ...options }: DecisionOptions & { hold?: string }) => {
      const choice = choiceOf(options);
      showResolution(out, await (await starterOf(context)).resolve(referenceId, { ...choice, holdId }));
    });
  addList(program, context);
  add(
    'cancel',
    'end a purchase if no order can exist; an existing order is completed, and a held purchase stays held',
  ).action(async (referenceId: string) => showCancellation(out, await (await starterOf(context)).cancel(referenceId)));
  add('redeliver', 'read the order of an ended purchase and deliver all keys of the sale again').action(
    async (referenceId: string) => {
      const redelivery = await (await starterOf(context)).redeliver(referenceId);
      showRedelivery(out, redelivery);
      if (redelivery.events.length === 0) context.exitCode = NOTHING_SENT;
    },
  );
}

function addList(program: Command, context: StarterContext): void {
  program
    .command('list')
    .description(
      'list the held purchases, and those that ended without a result (terminated, failed, timed out) in the last ' +
        '24h, each with the commands to choose from. ' +
        'Shows the 100 that have waited longest, or 10,000 with --json',
    )
    .addOption(
      new Option('--state <state>', 'list the purchases in this state instead, such as PENDING or OVERDUE')
        .choices(PURCHASE_STATES)
        .argParser(purchaseState),
    )
    .option(
      '--since <duration>',
      'only purchases that were held, ended or started within this time, such as 8h',
      period('--since'),
    )
    .action(async ({ state, since: maxAgeMs }: { state?: PurchaseState; since?: number }) => {
      const filter = { state, maxAgeMs, limit: context.out.json ? MAX_ROWS_AS_JSON : MAX_ROWS_AS_TEXT };
      showList(context.out, await (await starterOf(context)).list(filter), filter);
    });
}

async function starterOf(context: StarterContext) {
  return loadLibrary().createStarter(await context.temporal());
}

interface PurchaseOptions {
  item?: PurchaseItem[];
  maxDebit?: number;
  wait?: boolean;
}

async function purchase(context: StarterContext, referenceId: string, options: PurchaseOptions): Promise<void> {
  const { item: items, maxDebit, wait } = options;
  if (!items) throw new UsageError(`--item is missing: ${command(`purchase ${PURCHASE_USAGE}`)}`);
  const issues = validateItems(items);
  if (issues.length > 0) throw new InvalidPurchaseError(issues);
  const taskQueue = context.taskQueue();
  const client = await context.temporal();
  const { note, json } = context.out;
  // Without a configuration, the server is the one on this machine.
  if (!json) note(describeNamespace(client));
  const starter = loadLibrary().createStarter(client, { taskQueue });
  const started = await starter.purchase({ referenceId, items, maxDebit });
  if (!wait) return showStarted(context.out, started);
  note(`${formatStart(started)}; waiting for it to finish`);
  const ended = new AbortController();
  const watching = loadStateWatch().watchStates(client, referenceId, note, ended.signal);
  const result = await starter.result(referenceId).finally(() => ended.abort());
  await watching;
  showStarted(context.out, started, result);
  if (result.outcome !== 'DELIVERED') context.exitCode = OTHER_OUTCOME;
}

type DecisionOptions = { [Kind in Decision]?: Kind extends 'order' ? string : true };

function choiceOf(options: DecisionOptions): HoldDecision {
  const kinds = (Object.keys(DECISION_SUMMARIES) as Decision[]).filter((kind) => options[kind]);
  const [decision] = kinds;
  if (!decision || kinds.length > 1) {
    const got = kinds.map((kind) => `--${kind}`).join(' and ') || 'none';
    throw new UsageError(`Expected exactly one of --order ID, --replace, --abandon, --deliver, --withhold, got ${got}`);
  }
  return decision === 'order' ? { decision, orderId: String(options.order) } : { decision };
}
