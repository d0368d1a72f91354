/**
 * One plain line for people. Always on stderr: stdout belongs to what the command prints for others to read.
 *
 * @param {string} text
 */
export function log(text) {
  process.stderr.write(`${text}\n`);
}

/** @param {unknown} error */
export function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Shows that `work` goes on: on a terminal one line that counts the seconds, elsewhere a line at its start, one every
 * 20 seconds and one at its end.
 *
 * @template T
 * @param {string} title
 * @param {(detail: (text: string) => void) => Promise<T>} work calls `detail` with what it is doing just now
 * @returns {Promise<T>} what `work` returns; what it throws is thrown on
 */
export async function step(title, work) {
  const { isTTY, columns = 80 } = process.stderr;
  const start = performance.now();
  const seconds = () => `${Math.round((performance.now() - start) / 1000)} s`;
  let detail = '';
  const show = () => {
    const line = `${title} … ${seconds()}  ${detail}`.trimEnd();
    process.stderr.write(isTTY ? `\r\x1b[2K${line.slice(0, columns - 1)}` : `${line}\n`);
  };
  const end = (/** @type {string} */ how) => log(`${isTTY ? '\r\x1b[2K' : ''}${title}: ${how} (${seconds()})`);
  const timer = setInterval(show, isTTY ? 250 : 20_000);
  show();
  try {
    const result = await work((text) => void (detail = text));
    end('done');
    return result;
  } catch (error) {
    end('failed');
    throw error;
  } finally {
    clearInterval(timer);
  }
}
