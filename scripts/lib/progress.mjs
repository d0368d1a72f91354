import process from 'node:process';

const REPEAT_MS = 20_000;

/**
 * One plain line of progress. Always on stderr: stdout belongs to what the command prints for others to read.
 *
 * @param {string} text
 */
export function say(text) {
  process.stderr.write(`${text}\n`);
}

/**
 * Shows that `work` goes on: on a terminal a line that counts the seconds, elsewhere a line at the start, one every
 * 20 seconds and one at the end.
 *
 * @template T
 * @param {string} title
 * @param {(detail: (text: string) => void) => Promise<T>} work calls `detail` with what it is doing just now
 * @returns {Promise<T>} what `work` returns; what it throws is thrown on, after a line that says it failed
 */
export async function step(title, work) {
  const show = process.stderr.isTTY ? liveLine(title) : plainLines(title);
  try {
    const result = await work(show.detail);
    show.end('done');
    return result;
  } catch (error) {
    show.end('failed');
    throw error;
  }
}

/** @param {string} title */
function liveLine(title) {
  const seconds = stopwatch();
  let text = '';
  const draw = () => {
    const line = `${title} … ${seconds()} s  ${text}`.slice(0, (process.stderr.columns ?? 80) - 1);
    process.stderr.write(`\r\x1b[2K${line}`);
  };
  const timer = setInterval(draw, 250);
  draw();
  return {
    detail: (/** @type {string} */ now) => void (text = now),
    end: (/** @type {string} */ how) => {
      clearInterval(timer);
      process.stderr.write(`\r\x1b[2K${title}: ${how} (${seconds()} s)\n`);
    },
  };
}

/** @param {string} title */
function plainLines(title) {
  const seconds = stopwatch();
  let text = '';
  say(`${title} …`);
  const timer = setInterval(() => say(`${title} … ${seconds()} s  ${text}`.trimEnd()), REPEAT_MS);
  return {
    detail: (/** @type {string} */ now) => void (text = now),
    end: (/** @type {string} */ how) => {
      clearInterval(timer);
      say(`${title}: ${how} (${seconds()} s)`);
    },
  };
}

function stopwatch() {
  const start = process.hrtime.bigint();
  return () => Number((process.hrtime.bigint() - start) / 1_000_000_000n);
}
