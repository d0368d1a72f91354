import { toSingleLine } from '../../domain/text-format';

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escapes a string for an element or a quoted attribute. The result is one line without control characters. */
export function escape(text: string): string {
  return toSingleLine(text, Infinity).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

/** Escapes a string from outside and isolates it, so that its writing direction cannot reorder the text around it. */
export function escapeUntrusted(text: string): string {
  return `<bdi>${escape(text)}</bdi>`;
}

/** Escapes advice, in which commands are in backticks. A short command stays on one line. */
export function withCommands(text: string): string {
  return escapeUntrusted(text).replace(/`([^`]+)`/g, (_, command: string) =>
    command.length > MAX_UNBROKEN_LENGTH ? `<code>${command}</code>` : `<code class="unbroken">${command}</code>`,
  );
}

/** A longer string may be broken, because it would not fit on one line of a phone. */
export const MAX_UNBROKEN_LENGTH = 40;

/**
 * Links a string from outside.
 *
 * @param url if undefined, the string is not a link
 */
export function linked(text: string, url: string | undefined): string {
  return url === undefined
    ? escapeUntrusted(text)
    : `<a href="${escape(url)}" rel="noreferrer">${escapeUntrusted(text)}</a>`;
}

export const numberText = new Intl.NumberFormat('en').format;
export const amountText = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 6 }).format;

/** A number with a noun, such as `1 order` or `2,000 orders`. */
export function formatCount(number: number, noun: string): string {
  return `${numberText(number)} ${number === 1 ? noun : `${noun}s`}`;
}
