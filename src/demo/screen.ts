import type { Part } from './cast';

/** What the screen shows of one purchase. */
export interface Row {
  part: Part;
  state: string;
  note: string;
}

/** Where the demo shows what happens: a table that lives on a terminal, plain lines elsewhere. */
export interface Screen {
  say(line: string): void;
  update(rows: readonly Row[]): void;
}

const BOLD = '\u001b[1m';
const PLAIN = '\u001b[0m';

export function createScreen(out: NodeJS.WriteStream): Screen {
  return out.isTTY ? liveTable(out) : plainLines(out);
}

function plainLines(out: NodeJS.WriteStream): Screen {
  const shown = new Map<string, string>();
  return {
    say: (line) => void out.write(`${line}\n`),
    update(rows) {
      for (const row of rows) {
        const { referenceId } = row.part;
        if (shown.get(referenceId) === row.state) continue;
        shown.set(referenceId, row.state);
        out.write(`${referenceId}  ${row.state.padEnd(20)} ${row.part.shows}${row.note ? `  (${row.note})` : ''}\n`);
      }
    },
  };
}

/** Redraws the table in place; what is said stands above it and stays. */
function liveTable(out: NodeJS.WriteStream): Screen {
  let height = 0;
  let last: readonly Row[] = [];
  const clear = () => {
    if (height > 0) out.write(`\u001b[${height}A\u001b[0J`);
    height = 0;
  };
  const draw = () => {
    const width = Math.max(60, out.columns || 100) - 1;
    const lines = last.map((row) => tableLine(row, width));
    out.write(lines.map((line) => `${line}\n`).join(''));
    height = lines.length;
  };
  return {
    say(line) {
      clear();
      out.write(`${line}\n`);
      draw();
    },
    update(rows) {
      clear();
      last = rows;
      draw();
    },
  };
}

function tableLine(row: Row, width: number): string {
  const colour = colourOf(row);
  const state = row.state.slice(0, 20).padEnd(20);
  const rest = `${row.part.shows}${row.note ? ` · ${row.note}` : ''}`.slice(0, width - 34);
  return `  ${row.part.referenceId}  ${colour}${BOLD}${state}${PLAIN}  ${rest}`;
}

function colourOf({ state, part }: Row): string {
  if (state === part.expected) return '\u001b[32m';
  if (state === 'HELD' || state === 'UNCONFIRMED') return '\u001b[33m';
  return '\u001b[36m';
}
