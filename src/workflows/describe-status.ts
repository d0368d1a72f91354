import { possibleCommands } from '../contracts/operator-commands';
import type { HoldReason } from '../domain/holds';
import { type PurchaseState, STATE_MEANINGS } from '../domain/purchase-state';
import type { StatusQueryResult } from '../contracts/purchase';
import { formatInstant } from '../contracts/format-instant';
import { escapeMarkdown, joinDetails } from '../domain/text-format';
import { describeItems } from '../domain/purchase-rules';

/**
 * Describes a purchase as markdown for the Temporal UI: its state and since when, what happens next and, if a person
 * must act, the commands to type. Text from outside is escaped.
 */
export function describeStatus(answer: StatusQueryResult): string {
  const { state, since, explanation, waitsFor, result } = answer;
  const paragraphs = [
    `**${state}** since ${formatInstant(since)}: ${STATE_MEANINGS[state]}.`,
    explanation && sentence(explanation),
    ...forPeople(answer),
    waitsFor && state !== 'HELD' && `**Next:** ${sentence(waitsFor.what)}`,
    answer.cancelRequested && !result && `**Cancel:** ${CANCEL_REQUESTED[state] ?? CANCEL_TOO_LATE}`,
    facts(answer),
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

/** What a person must or may do, with the commands. */
function forPeople({ referenceId, state, hold }: StatusQueryResult): string[] {
  const advice = hold ? HOLD_ADVICE[hold.reason] : ADVICE[state];
  if (advice === undefined) return [];
  const { title, text, isDone } = advice;
  const commands = isDone ? [] : possibleCommands({ referenceId, state, hold });
  return [`**${title}** ${text}`, ...(commands.length > 0 ? [codeBlock(commands)] : [])];
}

interface Advice {
  title: string;
  text: string;
  /** No command is needed. */
  isDone?: boolean;
}

const decide = (text: string): Advice => ({
  title: 'Your decision is needed.',
  text: `${text} Then type one of these:`,
});

const HOLD_ADVICE: Record<HoldReason, Advice> = {
  PLACEMENT_UNKNOWN: decide(
    'Find out whether the partner has an order for this reference; the first command searches for it. If there is one, ' +
      'name it. Place it again only if you are sure that there is none.',
  ),
  OTHER_ITEMS: decide("Compare the partner's order with what was sold."),
  ORDER_OF_ANOTHER_PURCHASE: decide(
    'Find out which of the two sales the order is for. Its keys must not be delivered for both.',
  ),
  MORE_KEYS_THAN_ORDERED: decide('Ask the partner whether all the keys are intended and paid for.'),
  ORDER_CHANGES: decide(
    'Ask the partner why the order keeps changing. `--deliver` sends the keys that the order holds at that moment.',
  ),
  ORDER_TOO_LARGE: decide(
    'Set a higher PARTNER_MAX_BODY on all workers and restart them. `--deliver` then reads the order again.',
  ),
  DELIVERY_REFUSED: decide('Find out why the checkout refuses the event and fix that.'),
  DELIVERY_EXHAUSTED: decide('Find out why the checkout did not accept the event and fix that.'),
};

const NOTHING_BOUGHT = { title: 'Nothing to do here.', text: 'To try again, use a new reference.', isDone: true };

/** A state in which nobody has to act has no advice. */
const ADVICE: Partial<Record<PurchaseState, Advice>> = {
  DELIVERED: { title: 'Nothing to do.', text: 'The checkout has all the keys.', isDone: true },
  PARTIALLY_DELIVERED: {
    title: 'Missing keys',
    text: 'are delivered by the nightly reconciliation when they arrive. To look for them now:',
  },
  OVERDUE: {
    title: 'The keys',
    text: 'are delivered by the nightly reconciliation when they arrive. To look for them now:',
  },
  REFUNDED: NOTHING_BOUGHT,
  FAILED: NOTHING_BOUGHT,
  REJECTED: NOTHING_BOUGHT,
  NOT_PLACED: NOTHING_BOUGHT,
  CANCELLED: NOTHING_BOUGHT,
  ABANDONED: { title: 'An order may exist', text: 'and cost money. To check:' },
};

const CANCEL_TOO_LATE =
  'requested. An order exists, so the purchase continues, and its result will say that a cancel was requested.';

const CANCEL_REQUESTED: Partial<Record<PurchaseState, string>> = {
  PLACING: 'requested. The purchase ends CANCELLED if no order was sent; otherwise it continues.',
  PAUSED: 'requested. The purchase ends CANCELLED if no order was sent; otherwise it continues.',
  UNCONFIRMED: 'requested. If an order is found, it is completed; otherwise the purchase ends CANCELLED or is held.',
  HELD: 'requested. A decision is still needed.',
};

/** Escapes markdown, and adds a full stop and, unless the text begins with a name, a capital letter. */
function sentence(text: string): string {
  const escaped = escapeMarkdown(text);
  const beginsWithWord = /^[a-z]+[ ,;]/.test(escaped);
  return `${beginsWithWord ? escaped.charAt(0).toUpperCase() : escaped.charAt(0)}${escaped.slice(1)}${/[.?!…]$/.test(escaped) ? '' : '.'}`;
}

/**
 * A code block of commands; neither our words nor a reference can end it. Each comment goes above its command, because
 * the UI doesn't wrap lines in a block.
 */
function codeBlock(commands: readonly string[]): string {
  const lines = commands.flatMap((command) => {
    const [typed = '', purpose] = command.split(/ +# /);
    return purpose === undefined ? [typed] : [`# ${purpose}`, typed];
  });
  return ['```', ...lines, '```'].join('\n');
}
