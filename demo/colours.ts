import type { PurchaseState } from '../src/domain/purchase-state';

/** Colours a text, or leaves it unchanged if colours are off. */
export type Paint = (text: string, colour: Colour) => string;

const CODES = { green: 32, yellow: 33, red: 31, cyan: 36, grey: 90 };
type Colour = keyof typeof CODES;

/** @param out a stream; Node knows whether it supports colours, and honours NO_COLOR. */
export function paintFor(out: Pick<NodeJS.WriteStream, 'isTTY' | 'hasColors'>): Paint {
  if (!out.isTTY || !out.hasColors()) return (text) => text;
  return (text, colour) => `\u001b[${CODES[colour]}m${text}\u001b[0m`;
}

const COLOURS: Partial<Record<string, Colour>> = {
  DELIVERED: 'green',
  PARTIALLY_DELIVERED: 'yellow',
  REFUNDED: 'yellow',
  OVERDUE: 'yellow',
  HELD: 'yellow',
  UNCONFIRMED: 'yellow',
  PAUSED: 'yellow',
  FAILED: 'red',
  REJECTED: 'red',
  NOT_PLACED: 'red',
  CANCELLED: 'grey',
  ABANDONED: 'grey',
} satisfies Partial<Record<PurchaseState, Colour>>;

/** The colour of a state shows how good it is for the sale, not whether the demo expected it. */
export function colourOf(state: string): Colour {
  return COLOURS[state] ?? 'cyan';
}
