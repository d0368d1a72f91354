const { stderr } = process;

/** Shows what is running: on a terminal in one line that is overwritten, elsewhere in one line for each start. */
export interface Progress {
  begin(title: string): void;
  detail(text: string): void;
  /** Writes a line that stays. */
  line(text: string): void;
}

export function createProgress(): Progress {
  let title = '';
  let startedAt = 0;
  const clear = stderr.isTTY ? '\r\u001b[2K' : '';
  return {
    begin(text) {
      [title, startedAt] = [text, performance.now()];
      stderr.write(stderr.isTTY ? clear + text : `${text}\n`);
    },
    detail(text) {
      if (!stderr.isTTY) return;
      const seconds = Math.round((performance.now() - startedAt) / 1_000);
      stderr.write(clear + `${title}  ${seconds} s  ${text}`.slice(0, stderr.columns - 1));
    },
    line: (text) => void stderr.write(`${clear}${text}\n`),
  };
}
