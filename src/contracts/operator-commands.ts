import type { DecisionKind, HoldReason } from '../domain/holds';
import type { PurchaseState } from '../domain/purchase-state';
import type { HoldNotice } from './purchase';

/** What each decision does, for help texts and messages. */
export const DECISIONS: Record<DecisionKind, string> = {
  order: "adopt this order at the partner as this purchase's order",
  replace: 'the partner has no order: place it again, which spends money',
  abandon: 'give the purchase up; nothing is delivered',
  deliver: 'deliver the order as it is',
  withhold: 'end the purchase without delivering anything',
};

/** How operators run the command line, in the project folder. */
export const PROGRAM = 'npx fulfilment';

/** A command as an operator types it. */
export function command(words: string): string {
  return `${PROGRAM} ${words}`;
}

export function statusCommand(referenceId: string): string {
  return command(`status ${referenceId}`);
}

/** The command that shows which orders the partner has under a reference. */
export function searchCommand(referenceId: string): string {
  return command(`orders --search ${referenceId}`);
}

/** What an operator must find out before a decision that can't be undone. */
const CHECKS: Record<HoldReason, string> = {
  PLACEMENT_UNKNOWN: 'ask the partner whether it has an order for this reference',
  OTHER_ITEMS: 'compare the order with the sale',
  ORDER_OF_ANOTHER_PURCHASE: 'compare the order with the sale',
  MORE_KEYS_THAN_ORDERED: 'ask the partner whether all keys belong to this order',
  ORDER_CHANGES: 'ask the partner why the order keeps changing',
  ORDER_TOO_LARGE: 'do all workers now have a higher PARTNER_MAX_BODY?',
  DELIVERY_REFUSED: 'does the checkout accept events again?',
  DELIVERY_EXHAUSTED: 'does the checkout accept events again?',
};

type Hold = Pick<HoldNotice, 'reason' | 'decisions'>;

/** The commands, one for each decision. Above the dangerous one, a comment says what to check first. */
export function commandsFor(referenceId: string, { reason, decisions }: Hold): string[] {
  const dangerous = decisions.includes('replace') ? 'replace' : decisions[0];
  return decisions.flatMap((kind) => {
    const option = kind === 'order' ? '--order ORDER_ID' : `--${kind}`;
    const typed = `${command(`resolve ${referenceId} ${option.padEnd(16)}`)}  # ${DECISIONS[kind]}`;
    return kind === dangerous ? [`# check first: ${CHECKS[reason]}`, typed] : [typed];
  });
}

/** What determines the possible commands. `state` is undefined if the purchase ended without a result. */
export interface PurchaseStanding {
  referenceId: string;
  state?: PurchaseState;
  hold?: Hold;
}

/** The commands that an operator can use on a purchase in this state. */
export function possibleCommands({ referenceId, state, hold }: PurchaseStanding): string[] {
  const search = `${searchCommand(referenceId)}  # what the partner has under this reference`;
  const cancel = `${command(`cancel ${referenceId}`)}  # ends it if nothing can have been bought`;
  const redeliver = `${command(`redeliver ${referenceId}`)}  # reads its order and delivers all its keys again`;
  switch (state) {
    case 'HELD':
      if (!hold) return [];
      return [...(hold.reason === 'PLACEMENT_UNKNOWN' ? [search] : []), ...commandsFor(referenceId, hold)];
    case 'PLACING':
    case 'PAUSED':
    case 'UNCONFIRMED':
    case 'PENDING':
    case 'DELIVERING':
      return [statusCommand(referenceId), cancel];
    case 'DELIVERED':
    case 'PARTIALLY_DELIVERED':
    case 'OVERDUE':
      return [redeliver];
    case 'ABANDONED':
    case undefined:
      return [search];
    default:
      return [statusCommand(referenceId)];
  }
}

/** Puts each command on a line of its own, below the sentence before it. */
export function indented(commands: readonly string[]): string {
  return commands.map((line) => `\n  ${line}`).join('');
}
