/** Temporal's documented limit for a summary. The server rejects more than 400 bytes. */
const SUMMARY_BYTES = 200;
/** Characters. */
const MAX_TEXT_LENGTH = 600;
/** Markdown characters. An underscore inside a word, as in `steam_50_eu`, needs no escape. */
const MARKS = /[\\`*[\]<>#|~!&@]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g;

/** Escapes text from outside, so that markdown shows it as plain text on one line of at most 600 characters. */
export function escapeMarkdown(text: string): string {
  return toSingleLine(text, MAX_TEXT_LENGTH)
    .replace(MARKS, (mark) => `\\${mark}`)
    .replace(/:(?=\/\/)/g, '\\:')
    .replace(/www\./gi, (prefix) => `${prefix.slice(0, 3)}\\.`);
}

/**
 * Joins the paragraphs of a workflow's details and drops empty ones. The empty last paragraph is for the Temporal UI
 * (2.42), whose frame cuts off the last line.
 */
export function joinDetails(paragraphs: readonly (string | false | undefined)[]): string {
  return [...paragraphs.filter(Boolean), '\u00A0'].join('\n\n');
}

/** A summary for a workflow, an activity or a timer: one line, cut to the length that the server accepts. */
export function summaryOf(text: string): string {
  const line = toSingleLine(text, SUMMARY_BYTES);
  let bytes = 0;
  let end = 0;
  for (const character of line) {
    bytes += sizeOf(character);
    if (bytes > SUMMARY_BYTES - sizeOf('…')) break;
    end += character.length;
  }
  return end === line.length ? line : `${line.slice(0, end)}…`;
}

/**
 * Control and bidi characters, lone surrogates and line separators. The joiners of emoji and some scripts are allowed.
 */
const UNSAFE = /(?:(?![\u200C\u200D])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}])+/gu;

/**
 * Makes text from outside safe to show: one line, well-formed, no control or bidi characters, cut between code points.
 * @param maxLength in UTF-16 code units, including the ellipsis
 */
export function toSingleLine(text: string, maxLength: number): string {
  const line = text.replace(UNSAFE, ' ');
  return line.length > maxLength ? `${line.slice(0, maxLength - 1).replace(/[\uD800-\uDBFF]$/, '')}…` : line;
}

/** Makes one of our messages safe to show if it quotes text from outside. Line breaks remain. */
export function toSafeLines(message: string): string {
  return message
    .split('\n')
    .map((line) => toSingleLine(line, Infinity))
    .join('\n');
}

/** JSON that is safe to print: control and bidi characters are escaped. It parses to the same document. */
export function toSafeJson(document: unknown, indent = 2): string {
  const escaped = (_: string, at: number, text: string) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`;
  const json = JSON.stringify(document, undefined, indent);
  // Line breaks are not matched: a report of 100,000 findings has a million, which would cost hundreds of megabytes.
  return json.replace(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (unsafe) => unsafe.replace(/[^]/g, escaped));
}

/** The size of a character in the JSON of a payload, in bytes. */
function sizeOf(character: string): number {
  return new TextEncoder().encode(JSON.stringify(character)).length - 2;
}

/** The message of a failed request with the error code at the end, such as ` (ECONNRESET)`. */
export function withErrorCode(message: string, code: string | undefined): string {
  return code === undefined ? message : `${message} (${code})`;
}

/** Reverses {@link withErrorCode}, for events. */
export function withoutErrorCode(message: string): string {
  return message.replace(/ \([A-Z][A-Z0-9_]*\)$/, '');
}

/** A duration in hours, such as `72h`. If it is not a whole number of hours, in minutes, rounded up. */
export function formatHours(ms: number): string {
  return Number.isInteger(ms / 3_600_000) ? `${ms / 3_600_000}h` : `${Math.ceil(ms / 60_000)}m`;
}

/** A count with its noun in the singular or the plural: `1 finding`, `2 findings`. */
export function pluralize(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
