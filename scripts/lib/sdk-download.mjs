import { readdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { run } from './run.mjs';

/**
 * Downloads a server with the Temporal SDK's own downloader. It has no time limit, so it runs in a separate process
 * that is killed if no data arrives for a while: an unresponsive host must not block the fallback.
 *
 * @param {{ kind: string, version: string }} server
 * @param {string} path of the executable, in an empty folder
 * @param {(text: string) => void} detail receives the progress
 */
export async function downloadWithSdk({ kind, version }, path, detail, silenceMs = 20_000) {
  const dir = dirname(path);
  const args = [join(import.meta.dirname, 'sdk-downloader.mjs'), kind, `v${version}`, dir];
  const failure = await run(process.execPath, args, { silenceMs, onLine: detail }).catch((error) => error.message);
  const downloaded = (await readdir(dir)).find((name) => !name.endsWith('.downloading'));
  // If the downloaded server does not start within the SDK's five seconds, the download has still succeeded. An error of
  // the SDK repeats the address three times, and the innermost reason comes last.
  if (!downloaded) throw new Error(failure.split('\n').at(-1)?.split('): ').at(-1) || 'it left no file');
  await rename(join(dir, downloaded), path);
}
