/** The server refuses more of a summary: 400 bytes as a payload. Temporal's documentation names 200. */
const SUMMARY_BYTES = 200;
const LONGEST_TEXT = 600;
/** An underscore inside a word is one, as in `steam_50_eu`. */
const MARKS = /[\\`*[\]<>#|~!&@]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g;

/**
 * A text of someone else (the partner, a checkout) as a part of markdown: it can't end a line, open a link or be anything but text.
 * Bounded to 600 characters.
 */
export function escapeMarkdown(text: string): string {
  return inOneLine(text, LONGEST_TEXT)
    .replace(MARKS, (mark) => `\\${mark}`)
    .replace(/:(?=\/\/)/g, '\\:')
    .replace(/www\./gi, (prefix) => `${prefix.slice(0, 3)}\\.`);
}

/**
 * Ends the details of a workflow with an empty paragraph: the frame that the UI (2.42) shows them in is lower by a line than what stands
 * in it, and a command would be cut off. A paragraph that is nothing is left out.
 */
export function detailsOf(paragraphs: readonly (string | false | undefined)[]): string {
  return [...paragraphs.filter(Boolean), '\u00A0'].join('\n\n');
}

/** A summary of a workflow, an activity or a timer: one line, as long as the server takes. */
export function summaryOf(text: string): string {
  const line = inOneLine(text, SUMMARY_BYTES);
  let bytes = 0;
  let end = 0;
  for (const character of line) {
    bytes += sizeOf(character);
    if (bytes > SUMMARY_BYTES - sizeOf('…')) break;
    end += character.length;
  }
  return end === line.length ? line : `${line.slice(0, end)}…`;
}

/** What no text of someone else may hold: controls, marks of direction, half surrogate pairs. The joiners of emoji and scripts may stay. */
const UNSAFE = /(?:(?![\u200C\u200D])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}])+/gu;

/**
 * A text of someone else as every reader can take it: one line, well-formed, without control and bidi characters, cut between two
 * code points. Texts of the partner pass here where they enter. @param longest in UTF-16 code units, the ellipsis included
 */
export function inOneLine(text: string, longest: number): string {
  const line = text.replace(UNSAFE, ' ');
  return line.length > longest ? `${line.slice(0, longest - 1).replace(/[\uD800-\uDBFF]$/, '')}…` : line;
}

/** JSON for people and programs: what controls a terminal or turns the direction of writing is escaped, and parses to what it was. */
export function jsonOf(document: unknown, indent = 2): string {
  const escaped = (_: string, at: number, text: string) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`;
  const json = JSON.stringify(document, undefined, indent);
  // Without the line ends: a report of 100,000 findings has a million of them, and a match of each costs hundreds of megabytes.
  return json.replace(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (unsafe) => unsafe.replace(/[^]/g, escaped));
}

/** In bytes, as the JSON of a payload has it. */
function sizeOf(character: string): number {
  return new TextEncoder().encode(JSON.stringify(character)).length - 2;
}

/** A duration as people and the command line write it, such as `72h`, or in minutes (rounded up) where that is not whole. */
export function inHours(ms: number): string {
  return Number.isInteger(ms / 3_600_000) ? `${ms / 3_600_000}h` : `${Math.ceil(ms / 60_000)}m`;
}

/** A count with its noun in the singular or the plural: `1 finding`, `2 findings`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
