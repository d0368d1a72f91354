const { stderr } = process;

/** On a terminal, clears the progress line of a running step. */
const CLEAR_LINE = stderr.isTTY ? '\r\x1b[2K' : '';

/** @type {(text: string) => void} prints a human-readable line, on stderr because stdout is for programs */
export function log(text) {
  stderr.write(`${CLEAR_LINE}${text}\n`);
}

/**
 * Shows the progress of `work` with its latest detail. On a terminal this is one line that counts the seconds;
 * elsewhere, a line at the start, every 20 seconds and at the end.
 *
 * @type {<T>(title: string, work: (detail: (text: string) => void) => Promise<T>) => Promise<T>}
 */
export async function step(title, work) {
  const start = performance.now();
  const seconds = () => `${Math.round((performance.now() - start) / 1000)} s`;
  let detail = '';
  const show = () => {
    const line = `${title} … ${seconds()}  ${detail}`.trimEnd();
    stderr.write(stderr.isTTY ? CLEAR_LINE + line.slice(0, stderr.columns - 1) : `${line}\n`);
  };
  const timer = setInterval(show, stderr.isTTY ? 250 : 20_000);
  show();
  let ending = 'failed';
  try {
    const result = await work((text) => void (detail = text));
    ending = 'done';
    return result;
  } finally {
    clearInterval(timer);
    log(`${title}: ${ending} (${seconds()})`);
  }
}
