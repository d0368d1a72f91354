import { colourOf, type Paint, paintFor } from './colours';
import type { Scenario } from './scenarios';

/** Shown as the state of a purchase that has not started. */
export const NOT_STARTED = '·';

/** Columns: in a narrower terminal, the lines of a table would wrap. */
const NARROWEST = 60;

/** What the table shows of one purchase. */
export interface Row {
  scenario: Scenario;
  state: string;
  note: string;
}

/** Shows what happens: a table that is redrawn on a terminal, and plain lines elsewhere. */
export interface Progress {
  log(line: string): void;
  update(rows: readonly Row[]): void;
  /** Removes the table from the terminal. */
  clear(): void;
  paint: Paint;
}

export function createProgress(out: NodeJS.WriteStream): Progress {
  const paint = paintFor(out);
  return out.isTTY && (out.columns || 80) >= NARROWEST ? redrawnTable(out, paint) : plainLines(out, paint);
}

/** Prints one line for each change of a purchase's state. */
function plainLines(out: NodeJS.WriteStream, paint: Paint): Progress {
  const shown = new Map<string, string>();
  return {
    paint,
    log: (line) => void out.write(`${line}\n`),
    update(rows) {
      for (const { scenario, state, note } of rows) {
        const { referenceId, shows } = scenario;
        if (state === NOT_STARTED || shown.get(referenceId) === state) continue;
        shown.set(referenceId, state);
        out.write(`${referenceId}  ${state.padEnd(20)} ${shows}${note ? `  (${note})` : ''}\n`);
      }
    },
    clear: () => undefined,
  };
}

/** Redraws the table in place. Logged lines stay above it. */
function redrawnTable(out: NodeJS.WriteStream, paint: Paint): Progress {
  let drawn: readonly Row[] = [];
  const redraw = (above: string, rows: readonly Row[]) => {
    const erase = drawn.length > 0 ? `\u001b[${drawn.length}A\u001b[0J` : '';
    const width = Math.max(NARROWEST, out.columns || 80) - 1;
    out.write(erase + above + rows.map((row) => `${tableLine(row, width, paint)}\n`).join(''));
    drawn = rows;
  };
  return {
    paint,
    log: (line) => redraw(`${line}\n`, drawn),
    update: (rows) => redraw('', rows),
    clear: () => redraw('', []),
  };
}

/** A line that wraps would break the table, so a note that does not fit is left out. */
function tableLine({ scenario, state, note }: Row, width: number, paint: Paint): string {
  const { referenceId, shows } = scenario;
  const shownState = state.slice(0, 19).padEnd(19);
  const isLong = `${referenceId}  ${shownState}  ${shows} · ${note}`.length > width;
  const shownNote = note === '' || isLong ? '' : ` · ${note}`;
  return `${referenceId}  ${paint(shownState, colourOf(state))}  ${shows}${shownNote}`;
}

/** Breaks a text into lines of at most `width` characters, each with this indentation. */
export function wrapped(text: string, indentation: string, width = 79): string {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && indentation.length + line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines.map((line) => indentation + line).join('\n');
}
