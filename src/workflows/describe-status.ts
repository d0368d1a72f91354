import { CHECKS, possibleCommands } from '../contracts/operator-commands';
import type { HoldReason } from '../domain/holds';
import { type PurchaseState, STATE_MEANINGS } from '../domain/purchase-state';
import type { StatusQueryResult } from '../contracts/purchase';
import { formatInstant } from '../contracts/format-instant';
import { escapeMarkdown, joinDetails } from '../domain/text-format';
import { describeItems } from '../domain/purchase-rules';

/**
 * Describes a purchase as markdown for the Temporal UI: its state and since when, what happens next, and the commands
 * to run if an operator must act. Text from outside is escaped.
 */
export function describeStatus(status: StatusQueryResult): string {
  const { state, since, explanation, waitsFor, result } = status;
  const paragraphs = [
    `**${state}** since ${formatInstant(since)}: ${STATE_MEANINGS[state]}.`,
    explanation && sentence(explanation),
    ...forOperators(status),
    waitsFor && state !== 'HELD' && `**Next:** ${sentence(waitsFor.what)}`,
    status.cancelRequested && !result && `**Cancel:** ${CANCEL_REQUESTED[state] ?? CANCEL_TOO_LATE}`,
    facts(status),
  ];
  return joinDetails(paragraphs);
}

function facts({ referenceId, items, maxDebit, orderId, state, lastPoll, events }: StatusQueryResult): string {
  // The workflow does not run between two polls, so it cannot show them.
  const later = state === 'PENDING' ? ' (later polls are under Pending Activities)' : '';
  const lines = [
    `reference ${escapeMarkdown(referenceId)}: ${escapeMarkdown(describeItems(items))}`,
    ...((maxDebit ?? undefined) === undefined ? [] : [`maximum cost: ${maxDebit}`]),
    ...(orderId === undefined ? [] : [`order ${escapeMarkdown(orderId)} at the partner`]),
    ...(lastPoll ? [`polled at ${formatInstant(lastPoll.at)}: ${escapeMarkdown(lastPoll.status)}${later}`] : []),
    ...events.map(({ type, id }) => `the checkout received ${type} (${escapeMarkdown(id)})`),
  ];
  return lines.map((line) => `- ${line}`).join('\n');
}

/** What an operator must or may do, with the commands. */
function forOperators({ referenceId, state, hold }: StatusQueryResult): string[] {
  const advice = hold ? adviceOnHold(hold.reason) : ADVICE[state];
  if (advice === undefined) return [];
  const { title, text, isDone } = advice;
  // The advice says what to check first.
  const commands = isDone ? [] : possibleCommands({ referenceId, state, hold }).filter((line) => !line.startsWith('#'));
  return [`**${title}** ${text}`, ...(commands.length > 0 ? [codeBlock(commands)] : [])];
}

interface Advice {
  title: string;
  text: string;
  /** Whether no command is needed. */
  isDone?: boolean;
}

/** What else to know, after the check that comes first. */
const HOLD_ADVICE: Record<HoldReason, string> = {
  PLACEMENT_UNKNOWN:
    'An empty search proves nothing: place the order again only if the partner is sure that it has none.',
  OTHER_ITEMS: 'The first command shows the orders with this reference.',
  ORDER_OF_ANOTHER_PURCHASE: 'Its keys must not be delivered for both.',
  MORE_KEYS_THAN_ORDERED: 'Some may belong to someone else.',
  ORDER_CHANGES: '`--deliver` sends the keys that the order contains at that moment.',
  ORDER_TOO_LARGE: '`--deliver` reads the order again.',
  DELIVERY_REFUSED: '`--deliver` sends the event again.',
  DELIVERY_EXHAUSTED: '`--deliver` sends the event again.',
};

function adviceOnHold(reason: HoldReason): Advice {
  return {
    title: 'Your decision is needed.',
    text: `${sentence(`first, ${CHECKS[reason]}`)} ${HOLD_ADVICE[reason]} The commands:`,
  };
}

const NOTHING_TO_DO = { title: 'Nothing to do.', text: 'To try again, use a new reference.', isDone: true };

/** There is no advice for a state in which nobody has to act. */
const ADVICE: Partial<Record<PurchaseState, Advice>> = {
  DELIVERED: { title: 'Nothing to do.', text: 'The checkout has all the keys.', isDone: true },
  PARTIALLY_DELIVERED: {
    title: 'Keys are missing.',
    text: 'The nightly reconciliation, if it is scheduled, delivers them when they arrive. To look for them now:',
  },
  OVERDUE: {
    title: 'The order was still open.',
    text: 'The nightly reconciliation, if it is scheduled, delivers the keys when they arrive. To look for them now:',
  },
  REFUNDED: NOTHING_TO_DO,
  FAILED: NOTHING_TO_DO,
  REJECTED: NOTHING_TO_DO,
  NOT_PLACED: NOTHING_TO_DO,
  CANCELLED: NOTHING_TO_DO,
  ABANDONED: { title: 'There may be an order, and it may have been charged.', text: 'To check:' },
};

const CANCEL_TOO_LATE =
  'requested. An order exists, so the purchase continues. Its result will say that a cancel was requested.';

const CANCEL_REQUESTED: Partial<Record<PurchaseState, string>> = {
  PLACING: 'requested. The purchase ends CANCELLED if no order was sent; otherwise it continues.',
  PAUSED: 'requested. The purchase ends CANCELLED if no order was sent; otherwise it continues.',
  UNCONFIRMED: 'requested. If an order is found, it is completed; otherwise the purchase ends CANCELLED or is held.',
  HELD: 'requested. A decision is still needed; nothing more is bought.',
};

/** Escapes markdown and adds a full stop. Adds a capital letter unless the text begins with a name. */
function sentence(text: string): string {
  const escaped = escapeMarkdown(text);
  const beginsWithWord = /^[a-z]+[ ,;]/.test(escaped);
  return `${beginsWithWord ? escaped.charAt(0).toUpperCase() : escaped.charAt(0)}${escaped.slice(1)}${/[.?!…]$/.test(escaped) ? '' : '.'}`;
}

/**
 * A code block of commands. Neither our own text nor a reference can end it. Each comment goes above its command,
 * because the UI doesn't wrap lines in a code block.
 */
function codeBlock(commands: readonly string[]): string {
  const lines = commands.flatMap((command) => {
    const [typed = '', purpose] = command.split(/ +# /);
    return purpose === undefined ? [typed] : [`# ${purpose}`, typed];
  });
  return ['```', ...lines, '```'].join('\n');
}
