import { createProgress, NOT_STARTED, type Row, wrapped } from '../../../demo/progress';
import { SCENARIOS } from '../../../demo/scenarios';

/** A terminal that supports only text and the sequence that moves up some lines and clears everything below. */
function terminal(columns = 80) {
  let lines = [''];
  let written = '';
  const out = {
    isTTY: true,
    columns,
    hasColors: () => false,
    write(text: string) {
      written += text;
      // eslint-disable-next-line no-control-regex
      for (const part of text.split(/(\u001b\[\d+A\u001b\[0J)/)) {
        const up = /\[(\d+)A/.exec(part)?.[1];
        if (up !== undefined) lines = [...lines.slice(0, lines.length - 1 - Number(up)), ''];
        else lines = (lines.join('\n') + part).split('\n');
      }
      return true;
    },
  };
  return { out: out as unknown as NodeJS.WriteStream, screen: () => lines, written: () => written };
}

const rows = SCENARIOS.map((scenario): Row => ({ scenario, state: 'PENDING', note: 'pollUntilEnded #12' }));

describe('the table of the demo', () => {
  it('is redrawn in place below the log, and leaves nothing behind when it is cleared', () => {
    const { out, screen } = terminal();
    const progress = createProgress(out);
    progress.log('first');
    progress.update(rows);
    progress.log('second');
    progress.update(rows);
    expect(screen()).toHaveLength(2 + rows.length + 1);
    progress.clear();
    progress.log('verdict');
    expect(screen()).toEqual(['first', 'second', 'verdict', '']);
  });

  it.each([60, 80, 200])('has no line that wraps on a terminal with %i columns', (columns) => {
    const { out, screen } = terminal(columns);
    createProgress(out).update(rows);
    for (const line of screen()) expect(line.length).toBeLessThan(columns);
    // A note that does not fit is left out.
    const noted = screen().filter((line) => line.includes(' · ') && line.endsWith('pollUntilEnded #12'));
    expect(noted.length > 0).toBe(columns > 60);
    expect(screen().filter((line) => line.includes('·'))).toEqual(noted);
  });

  it('has no colour if the terminal does not support it', () => {
    const { out, written } = terminal();
    createProgress(out).update(rows);
    expect(written()).not.toContain('\u001b');
  });

  it('without a terminal has no line for a purchase that has not started', () => {
    const { out, screen } = terminal();
    const waiting = rows.map((row, index) => (index === 0 ? row : { ...row, state: NOT_STARTED }));
    createProgress(Object.assign(out, { isTTY: false })).update(waiting);
    expect(screen()).toHaveLength(2);
  });

  it('is a plain line for each change if there is no terminal, without control characters, even when it is cleared', () => {
    const { out, screen, written } = terminal();
    const progress = createProgress(Object.assign(out, { isTTY: false }));
    progress.update(rows);
    progress.update(rows);
    progress.clear();
    expect(screen()).toHaveLength(rows.length + 1);
    expect(written()).not.toContain('\u001b');
  });
});

it('wraps a text between words with each line indented, and never loses a word that is too long', () => {
  expect(wrapped('one two three', '  ', 9)).toBe('  one two\n  three');
  expect(wrapped('a-long-word b', '', 4)).toBe('a-long-word\nb');
});
