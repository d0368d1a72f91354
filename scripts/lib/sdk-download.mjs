import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf } from './find-tool.mjs';
import { run } from './run.mjs';

/** How long the downloader may be silent, before the first byte and after it. */
const PATIENCE = { beginMs: 20_000, stallMs: 30_000 };

const LOOK_AGAIN_MS = 500;

const DOWNLOADER = fileURLToPath(new URL('./sdk-download-child.mjs', import.meta.url));

/**
 * Downloads a server with the Temporal SDK's own downloader. That one has no time limit, so it runs in a child that is
 * given up when it stays silent: a host that swallows packets must not hold up the fallback.
 *
 * @param {'dev-server' | 'time-skipping'} kind
 * @param {string} version for instance `v1.5.1`
 * @param {string} dir an empty folder for the download
 * @param {(detail: string) => void} detail told how much has come
 * @param {typeof PATIENCE} [patience]
 * @returns {Promise<string>} the path of the executable, inside `dir`
 * @throws {Error} with the downloader's reason
 */
export async function downloadWithSdk(kind, version, dir, detail, patience = PATIENCE) {
  const givenUp = new AbortController();
  const watch = watchDownload(dir, detail, patience, givenUp);
  const failure = await run(process.execPath, [DOWNLOADER, kind, version, dir], { signal: givenUp.signal }).then(
    () => undefined,
    (error) => messageOf(error),
  );
  clearInterval(watch);
  const file = (await readdir(dir)).find((name) => !name.endsWith('.downloading'));
  // A server that was downloaded and then did not start within the SDK's five seconds is no failed download.
  if (file) return join(dir, file);
  throw new Error(givenUp.signal.aborted ? messageOf(givenUp.signal.reason) : innermost(failure));
}

/**
 * @param {string} dir
 * @param {(detail: string) => void} detail
 * @param {typeof PATIENCE} patience
 * @param {AbortController} givenUp
 */
function watchDownload(dir, detail, patience, givenUp) {
  let size = -1;
  let since = performance.now();
  const look = async () => {
    const now = await sizeOfDownload(dir);
    if (now !== size) {
      size = now;
      since = performance.now();
      if (size > 0) detail(`${(size / 1e6).toFixed(1)} MB`);
    }
    const silent = performance.now() - since;
    if (size < 0 && silent > patience.beginMs)
      givenUp.abort(new Error(`no answer within ${patience.beginMs / 1000} s`));
    if (size >= 0 && silent > patience.stallMs)
      givenUp.abort(new Error(`no further byte for ${patience.stallMs / 1000} s`));
  };
  return setInterval(() => void look(), LOOK_AGAIN_MS);
}

/**
 * @param {string} dir
 * @returns {Promise<number>} bytes, -1 before the download begins
 */
async function sizeOfDownload(dir) {
  if (!existsSync(dir)) return -1;
  const file = (await readdir(dir))[0];
  return file === undefined
    ? -1
    : stat(join(dir, file)).then(
        ({ size }) => size,
        () => -1,
      );
}

/**
 * The SDK's errors name the same address three times; the innermost reason comes last.
 *
 * @param {string | undefined} failure
 */
function innermost(failure) {
  const lastLine = failure?.trimEnd().split('\n').at(-1);
  return lastLine?.split('): ').at(-1) ?? 'the downloader left no file';
}
