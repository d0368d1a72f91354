import type { DecisionKind } from '../contracts/purchase';

export type { DecisionChoice } from '../contracts/purchase';

/** Each decision with what it does, for help texts and for people at night. */
export const DECISIONS: Record<DecisionKind, string> = {
  order: 'this order of the partner is the one of this purchase',
  replace: 'the partner has no order: place it again',
  abandon: 'give the purchase up; nothing is handed over',
  deliver: 'hand over what is there, as it is',
  withhold: 'end it without handing anything over',
};

/** The exact commands to type, one for each decision. */
export function commandsFor(referenceId: string, decisions: readonly DecisionKind[]): string[] {
  return decisions.map((kind) => {
    const option = kind === 'order' ? '--order ORDER_ID' : `--${kind}`;
    return `  node dist/starter.js resolve ${referenceId} ${option.padEnd(16)}  # ${DECISIONS[kind]}`;
  });
}
