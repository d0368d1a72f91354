const { stderr } = process;

/** On a terminal the line of a step may be there, which is still on its way. */
const CLEAR_LINE = stderr.isTTY ? '\r\x1b[2K' : '';

/** @type {(text: string) => void} a line for people; on stderr, as stdout is for what the command prints for programs */
export function log(text) {
  stderr.write(`${CLEAR_LINE}${text}\n`);
}

/**
 * Shows that `work` goes on, and the detail that it names last: on a terminal in one line that counts the seconds, elsewhere
 * in a line at its start, one every 20 seconds and one at its end.
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
