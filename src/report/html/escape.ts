import { inOneLine } from '../../domain/texts';

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escapes a string for an element or a quoted attribute, in one line and without control characters. */
export function escape(text: string): string {
  return inOneLine(text, Infinity).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

/** Escapes a string from outside and isolates it, so that its writing direction can't reorder the page around it. */
export function foreign(text: string): string {
  return `<bdi>${escape(text)}</bdi>`;
}

/** Escapes advice, in which a command stands between backticks. */
export function withCommands(text: string): string {
  return foreign(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}

export const numberText = new Intl.NumberFormat('en').format;
export const amountText = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 6 }).format;

/** A number with its noun, such as `1 order` or `2,000 orders`. */
export function counted(number: number, noun: string): string {
  return `${numberText(number)} ${number === 1 ? noun : `${noun}s`}`;
}
