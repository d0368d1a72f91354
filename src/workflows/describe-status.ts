import { fittingCommands } from '../contracts/operator-commands';
import type { HoldReason } from '../domain/holds';
import { type PurchaseState, STATE_MEANINGS } from '../domain/purchase-state';
import type { StatusAnswer } from '../contracts/purchase';
import { detailsOf, escapeMarkdown } from '../domain/texts';
import { describeItems } from '../domain/purchase-rules';

/**
 * Where a purchase stands, as markdown for whoever opens it in the Temporal UI: what is happening and since when, what comes next,
 * and where a person is due the commands to type. Texts of others are escaped. What matters most comes first.
 */
export function describeStatus(answer: StatusAnswer): string {
  const { state, since, explanation, waitsFor, result } = answer;
  const paragraphs = [
    `**${state}** since ${instant(since)}: ${STATE_MEANINGS[state]}.`,
    explanation && sentence(explanation),
    ...forPeople(answer),
    waitsFor && state !== 'HELD' && `**Next:** ${sentence(waitsFor.what)}`,
    answer.cancelRequested && !result && `**Cancel:** ${CANCEL_ASKED[state] ?? SEEN_THROUGH}`,
    facts(answer),
  ];
  return detailsOf(paragraphs);
}

function facts({ referenceId, items, maxDebit, orderId, state, lastPoll, events }: StatusAnswer): string {
  // The workflow does not run between two polls, so it cannot show them.
  const later = state === 'PENDING' ? ' (later polls are under Pending Activities)' : '';
  const lines = [
    `reference ${escapeMarkdown(referenceId)}: ${escapeMarkdown(describeItems(items))}`,
    ...((maxDebit ?? undefined) === undefined ? [] : [`it may cost ${maxDebit} at the most`]),
    ...(orderId === undefined ? [] : [`order ${escapeMarkdown(orderId)} at the partner`]),
    ...(lastPoll ? [`polled at ${instant(lastPoll.at)}: ${escapeMarkdown(lastPoll.status)}${later}`] : []),
    ...events.map(({ type, id }) => `the checkout has ${type} (${escapeMarkdown(id)})`),
  ];
  return lines.map((line) => `- ${line}`).join('\n');
}

/** What a person has to do, or may do, with the commands. */
function forPeople({ referenceId, state, hold }: StatusAnswer): string[] {
  const advice = hold ? HOLD_ADVICE[hold.reason] : ADVICE[state];
  if (advice === undefined) return [];
  const { title, text, isDone } = advice;
  const commands = isDone ? [] : fittingCommands({ referenceId, state, hold });
  return [`**${title}** ${text}`, ...(commands.length > 0 ? [codeBlock(commands)] : [])];
}

interface Advice {
  title: string;
  text: string;
  /** There is nothing to type. */
  isDone?: boolean;
}

const decide = (text: string): Advice => ({ title: 'You decide.', text: `${text} Then type one of these:` });

const HOLD_ADVICE: Record<HoldReason, Advice> = {
  PLACEMENT_UNKNOWN: decide(
    'Find out whether the partner has an order for this reference; the first command searches for it. If it has one, name it. ' +
      'Only if it surely has none, place it again.',
  ),
  OTHER_ITEMS: decide('Compare the order with what was sold, on the side of the partner.'),
  ORDER_OF_ANOTHER_PURCHASE: decide(
    'Find out which of the two sales the order is for. Its keys must not be delivered for both.',
  ),
  MORE_KEYS_THAN_ORDERED: decide('Find out from the partner whether all the keys are meant, and paid for.'),
  ORDER_CHANGES: decide(
    'Find out from the partner why it keeps changing the order. The keys that it holds then are delivered.',
  ),
  ORDER_TOO_LARGE: decide(
    'Set PARTNER_MAX_BODY higher for all workers and restart them. Then the order is read again.',
  ),
  DELIVERY_REFUSED: decide('Find out why the checkout refuses the event, and put that right.'),
  DELIVERY_EXHAUSTED: decide('Find out why the checkout did not take the event, and put that right.'),
};

const NOTHING_BOUGHT = { title: 'Nothing to do here.', text: 'A new try needs a new reference.', isDone: true };

/** The states in which a person is not due have none. */
const ADVICE: Partial<Record<PurchaseState, Advice>> = {
  DELIVERED: { title: 'Nothing to do.', text: 'The checkout has it all.', isDone: true },
  PARTIALLY_DELIVERED: {
    title: 'What is missing',
    text: 'is delivered by the nightly reconciliation when it comes. To look for it now:',
  },
  OVERDUE: {
    title: 'The keys',
    text: 'are delivered by the nightly reconciliation when they come. To look for them now:',
  },
  REFUNDED: NOTHING_BOUGHT,
  FAILED: NOTHING_BOUGHT,
  REJECTED: NOTHING_BOUGHT,
  NOT_PLACED: NOTHING_BOUGHT,
  CANCELLED: NOTHING_BOUGHT,
  ABANDONED: { title: 'An order may exist,', text: 'and cost money. To see:' },
};

const SEEN_THROUGH =
  'asked for. There is an order, so it is seen through, and the result says that a cancel was asked for.';

const CANCEL_ASKED: Partial<Record<PurchaseState, string>> = {
  PLACING: 'asked for. It ends CANCELLED unless the order was sent already; else it is seen through.',
  PAUSED: 'asked for. It ends CANCELLED unless the order was sent already; else it is seen through.',
  UNCONFIRMED: 'asked for. It ends CANCELLED if no order shows up; else it is seen through.',
  HELD: 'asked for, and it does not answer what is to be decided here.',
};

/** With a full stop and, unless it begins with a name, a capital letter; nothing in it is markdown. */
function sentence(text: string): string {
  const escaped = escapeMarkdown(text);
  const beginsWithWord = /^[a-z]+[ ,;]/.test(escaped);
  return `${beginsWithWord ? escaped.charAt(0).toUpperCase() : escaped.charAt(0)}${escaped.slice(1)}${/[.?!…]$/.test(escaped) ? '' : '.'}`;
}

/**
 * Commands are made of our own words and of a reference, in which nothing ends a code block. What one does stands above it: the UI
 * doesn't wrap the lines of a block.
 */
function codeBlock(commands: readonly string[]): string {
  const lines = commands.flatMap((command) => {
    const [typed = '', purpose] = command.split(/ +# /);
    return purpose === undefined ? [typed] : [`# ${purpose}`, typed];
  });
  return ['```', ...lines, '```'].join('\n');
}

/** `2026-01-31 03:14:15 UTC`. @param at ISO 8601, or epoch ms */
export function instant(at: string | number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
