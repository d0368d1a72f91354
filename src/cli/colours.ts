import { styleText } from 'node:util';
import type { CurrentState } from '../starter/current-state';

/**
 * What a colour means. `good`: done. `busy`: it continues by itself. `caution`: not everything was delivered, or the
 * outcome is not clear yet. `action`: an operator must act. `bad`: failed.
 */
export type Tone = 'good' | 'busy' | 'caution' | 'action' | 'bad';

const COLOURS = { good: 'green', busy: 'cyan', caution: 'yellow', action: 'magenta', bad: 'red' } as const;

const TONES: Record<CurrentState, Tone> = {
  STARTED: 'busy',
  PLACING: 'busy',
  PAUSED: 'caution',
  UNCONFIRMED: 'caution',
  HELD: 'action',
  PENDING: 'busy',
  DELIVERING: 'busy',
  DELIVERED: 'good',
  PARTIALLY_DELIVERED: 'caution',
  REFUNDED: 'caution',
  FAILED: 'bad',
  REJECTED: 'bad',
  NOT_PLACED: 'bad',
  OVERDUE: 'caution',
  CANCELLED: 'caution',
  ABANDONED: 'caution',
  ENDED_WITHOUT_RESULT: 'bad',
};

/** The tone of a purchase's state. */
export function toneOf(state: CurrentState): Tone {
  return TONES[state];
}

/** Colours a text if `isColoured`. */
export function coloured(isColoured: boolean | undefined, tone: Tone, text: string): string {
  return isColoured ? styleText(COLOURS[tone], text, { validateStream: false }) : text;
}

/** Whether a stream shows colours: it is a terminal with colours, and NO_COLOR is not set. */
export function canShowColours(stream: Pick<NodeJS.WriteStream, 'isTTY'> & { hasColors?: () => boolean }): boolean {
  return stream.isTTY && stream.hasColors?.() === true;
}
