import type { DecisionKind } from '../domain/holds';
import type { PurchaseState } from '../domain/purchase-state';
import type { HoldNotice } from './purchase';

/** Each decision with what it does, for help texts and for people at night. */
export const DECISIONS: Record<DecisionKind, string> = {
  order: 'this order of the partner is the one of this purchase',
  replace: 'the partner has no order: place it again',
  abandon: 'give the purchase up; nothing is delivered',
  deliver: 'deliver what is there, as it is',
  withhold: 'end it without handing anything over',
};

/** How people start the command line, in the folder of the project. */
export const PROGRAM = 'npx fulfilment';

/** A command as people type it. */
export function command(words: string): string {
  return `${PROGRAM} ${words}`;
}

export function statusCommand(referenceId: string): string {
  return command(`status ${referenceId}`);
}

/** What the partner has under a reference. */
export function searchCommand(referenceId: string): string {
  return command(`orders --search ${referenceId}`);
}

/** The exact commands to type, one for each decision. */
export function commandsFor(referenceId: string, decisions: readonly DecisionKind[]): string[] {
  return decisions.map((kind) => {
    const option = kind === 'order' ? '--order ORDER_ID' : `--${kind}`;
    return `${command(`resolve ${referenceId} ${option.padEnd(16)}`)}  # ${DECISIONS[kind]}`;
  });
}

/** What the commands that fit depend on. `state` is undefined of a purchase that has ended without a result. */
export interface Standing {
  referenceId: string;
  state?: PurchaseState;
  hold?: Pick<HoldNotice, 'reason' | 'decisions' | 'endsOnCancel'>;
}

/** The exact commands that fit a purchase as it stands, for a person who has to do something about it. */
export function fittingCommands({ referenceId, state, hold }: Standing): string[] {
  const search = `${searchCommand(referenceId)}  # what the partner has under this reference`;
  const cancel = `${command(`cancel ${referenceId}`)}  # ends it where surely nothing was bought; else it is seen through`;
  const redeliver = `${command(`redeliver ${referenceId}`)}  # its order is read, and everything delivered once more`;
  switch (state) {
    case 'HELD': {
      const { reason, decisions = [], endsOnCancel } = hold ?? {};
      return [
        ...(reason === 'PLACEMENT_UNKNOWN' ? [search] : []),
        ...commandsFor(referenceId, decisions),
        ...(endsOnCancel ? [cancel] : []),
      ];
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
    case undefined:
      return [search];
    default:
      return [statusCommand(referenceId)];
  }
}

/** Each on a line of its own, below the sentence before. */
export function indented(commands: readonly string[]): string {
  return commands.map((command) => `\n  ${command}`).join('');
}
