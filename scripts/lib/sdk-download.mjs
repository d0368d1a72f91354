import { readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { executableName } from './find-tool.mjs';
import { messageOf } from './log.mjs';
import { run } from './run.mjs';

const DOWNLOADER = join(import.meta.dirname, 'sdk-downloader.mjs');

/**
 * Downloads a server with the Temporal SDK's own downloader, in a process that gives up when no byte comes: a host that
 * swallows packets must not hold up the fallback.
 *
 * @param {'dev-server' | 'time-skipping'} kind
 * @param {string} version
 * @param {string} dir an empty folder for the download
 * @param {string} file what the executable is then called there, without `.exe`
 * @param {(text: string) => void} detail told how much has come
 * @param {Record<string, string>} [env] of the downloader
 * @throws {Error} with the downloader's reason
 */
export async function downloadWithSdk(kind, version, dir, file, detail, env) {
  const failure = await run(process.execPath, [DOWNLOADER, kind, `v${version}`, dir], {
    env,
    killSignal: 'SIGKILL',
    onLine: detail,
  }).then(() => '', messageOf);
  const downloaded = (await readdir(dir)).find((name) => !name.endsWith('.downloading'));
  // A server that was downloaded and then did not start within the SDK's five seconds is no failed download. An error
  // of the SDK names the same address three times, and the innermost reason last.
  if (!downloaded) throw new Error(failure.split('\n').at(-1)?.split('): ').at(-1) || 'the downloader left no file');
  await rename(join(dir, downloaded), join(dir, executableName(file)));
}
