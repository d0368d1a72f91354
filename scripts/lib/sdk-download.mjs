import { readdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { run } from './run.mjs';

/**
 * Downloads a server with the Temporal SDK's own downloader. That one has no time limit, so it runs in a process that is
 * killed when no byte has come for a while: a host that swallows packets must not hold up the fallback.
 *
 * @param {{ kind: string, version: string }} server
 * @param {string} path of the executable, in a folder that is empty as yet
 * @param {(text: string) => void} detail told how much has come
 */
export async function downloadWithSdk({ kind, version }, path, detail, silenceMs = 20_000) {
  const dir = dirname(path);
  const args = [join(import.meta.dirname, 'sdk-downloader.mjs'), kind, `v${version}`, dir];
  const failure = await run(process.execPath, args, { silenceMs, onLine: detail }).catch((error) => error.message);
  const downloaded = (await readdir(dir)).find((name) => !name.endsWith('.downloading'));
  // A server that was downloaded and then did not start within the SDK's five seconds is no failed download. An error of
  // the SDK names the same address three times, and the innermost reason last.
  if (!downloaded) throw new Error(failure.split('\n').at(-1)?.split('): ').at(-1) || 'it left no file');
  await rename(join(dir, downloaded), path);
}
