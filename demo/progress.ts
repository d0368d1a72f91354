import type { Scenario } from './scenarios';

/** What is shown of one purchase. */
export interface Row {
  scenario: Scenario;
  state: string;
  note: string;
}

/** Shows what happens: a table that is redrawn on a terminal, plain lines elsewhere. */
export interface Progress {
  log(line: string): void;
  update(rows: readonly Row[]): void;
}

const BOLD = '\u001b[1m';
const PLAIN = '\u001b[0m';

export function createProgress(out: NodeJS.WriteStream): Progress {
  return out.isTTY ? redrawnTable(out) : plainLines(out);
}

/** One line for each change of a purchase's state. */
function plainLines(out: NodeJS.WriteStream): Progress {
  const shown = new Map<string, string>();
  return {
    log: (line) => void out.write(`${line}\n`),
    update(rows) {
      for (const { scenario, state, note } of rows) {
        const { referenceId, shows } = scenario;
        if (shown.get(referenceId) === state) continue;
        shown.set(referenceId, state);
        out.write(`${referenceId}  ${state.padEnd(20)} ${shows}${note ? `  (${note})` : ''}\n`);
      }
    },
  };
}

/** Redraws the table in place; what is logged stands above it and stays. */
function redrawnTable(out: NodeJS.WriteStream): Progress {
  let drawn: readonly Row[] = [];
  const redraw = (above: string, rows: readonly Row[]) => {
    const erase = drawn.length > 0 ? `\u001b[${drawn.length}A\u001b[0J` : '';
    const width = Math.max(60, out.columns || 100) - 1;
    out.write(erase + above + rows.map((row) => `${tableLine(row, width)}\n`).join(''));
    drawn = rows;
  };
  return {
    log: (line) => redraw(`${line}\n`, drawn),
    update: (rows) => redraw('', rows),
  };
}

function tableLine({ scenario, state, note }: Row, width: number): string {
  const coloured = `${colourOf(state, scenario)}${BOLD}${state.slice(0, 20).padEnd(20)}${PLAIN}`;
  const rest = `${scenario.shows}${note ? ` · ${note}` : ''}`.slice(0, width - 34);
  return `  ${scenario.referenceId}  ${coloured}  ${rest}`;
}

function colourOf(state: string, { expected }: Scenario): string {
  if (state === expected) return '\u001b[32m';
  return state === 'HELD' || state === 'UNCONFIRMED' ? '\u001b[33m' : '\u001b[36m';
}
