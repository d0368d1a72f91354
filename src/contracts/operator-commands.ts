import type { Decision, HoldReason } from '../domain/holds';
import type { PurchaseState } from '../domain/purchase-state';
import type { Hold } from './purchase';

/** What each decision does, for help texts and messages. */
export const DECISION_SUMMARIES: Record<Decision, string> = {
  order: "adopt this order at the partner as this purchase's order",
  replace: 'only if the partner has none: place the order again (spends money)',
  abandon: 'give up on the order; the purchase ends ABANDONED',
  deliver: 'deliver the order as it is',
  withhold: "withhold the order's keys; the purchase ends ABANDONED",
};

/** How to start the command line, in the project's folder. */
export const PROGRAM = 'npx fulfilment';

/** A command as an operator types it. */
export function command(words: string): string {
  return `${PROGRAM} ${words}`;
}

export function statusCommand(referenceId: string): string {
  return command(`status ${referenceId}`);
}

/** Shows the partner's orders with a reference. */
export function searchCommand(referenceId: string): string {
  return command(`orders --search ${referenceId}`);
}

/** What an operator must find out before a decision that can't be undone. */
export const CHECKS: Record<HoldReason, string> = {
  PLACEMENT_UNKNOWN: 'ask the partner whether it has an order for this reference',
  OTHER_ITEMS: 'compare the order with the sale, and ask the partner',
  ORDER_OF_ANOTHER_PURCHASE:
    'ask the partner which reference the order belongs to, and find out whether the other purchase has delivered its keys',
  MORE_KEYS_THAN_ORDERED: 'ask the partner whether all keys belong to this order',
  ORDER_CHANGES: 'ask the partner when the order will be final, and find out whether the customer was refunded',
  ORDER_TOO_LARGE: 'make sure that all workers now have a higher PARTNER_MAX_BODY',
  DELIVERY_REFUSED: "find the cause in the checkout's log, and fix it",
  DELIVERY_EXHAUSTED: 'find out why no event was confirmed, and fix it',
};

/** Holds that are decided by what the order history shows. */
const NEEDS_SEARCH: readonly HoldReason[] = ['PLACEMENT_UNKNOWN', 'OTHER_ITEMS'];

type OpenDecisions = Pick<Hold, 'id' | 'reason' | 'decisions'>;

/**
 * The commands to choose from, one for each decision, below a comment that says what to check first. They name the hold,
 * so that a command that is pasted late never decides a newer one.
 */
export function commandsFor(referenceId: string, { id, reason, decisions }: OpenDecisions): string[] {
  const commands = decisions.map((kind) => {
    const option = kind === 'order' ? '--order ORDER_ID' : `--${kind}`;
    return `${command(`resolve ${referenceId} ${option} --hold ${id}`)}  # ${DECISION_SUMMARIES[kind]}`;
  });
  return [`# check first: ${CHECKS[reason]}`, ...commands];
}

/** The facts that decide which commands are possible. `state` is undefined if the purchase ended without a result. */
export interface PurchaseStanding {
  referenceId: string;
  state?: PurchaseState;
  hold?: OpenDecisions;
}

/** The commands that an operator can use on a purchase in this state. */
export function possibleCommands({ referenceId, state, hold }: PurchaseStanding): string[] {
  const search = `${searchCommand(referenceId)}  # shows the partner's orders with this reference`;
  const cancel = `${command(`cancel ${referenceId}`)}  # ends the purchase if no order can exist`;
  const redeliver = `${command(`redeliver ${referenceId}`)}  # reads its order and delivers all its keys`;
  switch (state) {
    case 'HELD': {
      if (!hold) return [];
      const [check = '', ...decisions] = commandsFor(referenceId, hold);
      return [check, ...(NEEDS_SEARCH.includes(hold.reason) ? [search] : []), ...decisions];
    }
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
      return [search];
    case undefined:
      return [search, redeliver];
    default:
      return [statusCommand(referenceId)];
  }
}

/** Puts each command on its own line, below the preceding sentence. */
export function indented(commands: readonly string[]): string {
  return commands.map((line) => `\n  ${line}`).join('');
}
