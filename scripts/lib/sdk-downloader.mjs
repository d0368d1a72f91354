/*
 * `node sdk-downloader.mjs KIND VERSION DIR`: the SDK's download has no time limit, so this process ends when nothing comes.
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { TestWorkflowEnvironment } from '@temporalio/testing';

const { DOWNLOAD_BEGIN_MS = '20000', DOWNLOAD_STALL_MS = '30000' } = process.env;
const CHECK_MS = 500;

const [kind, version, downloadDir = ''] = process.argv.slice(2);
let size = -1;
let since = performance.now();

setInterval(() => {
  const now = downloadedBytes();
  if (now !== size) since = performance.now();
  if (now > 0 && now !== size) process.stdout.write(`${(now / 1e6).toFixed(1)} MB\n`);
  size = now;
  const silentMs = performance.now() - since;
  if (size < 0 && silentMs > Number(DOWNLOAD_BEGIN_MS)) fail(`no answer within ${Number(DOWNLOAD_BEGIN_MS) / 1000} s`);
  if (size >= 0 && silentMs > Number(DOWNLOAD_STALL_MS)) fail(`no further byte for ${Number(DOWNLOAD_STALL_MS) / 1000} s`);
}, CHECK_MS).unref();

// The SDK downloads only as part of starting the server; the server itself is not wanted here.
const server = { executable: { type: /** @type {const} */ ('cached-download'), version, downloadDir } };
const starting =
  kind === 'dev-server'
    ? TestWorkflowEnvironment.createLocal({ server })
    : TestWorkflowEnvironment.createTimeSkipping({ server });
await starting.then(
  (environment) => environment.teardown(),
  (error) => fail(error.message),
);

/** -1 before the download begins. */
function downloadedBytes() {
  const [file] = readdirSync(downloadDir);
  return file === undefined ? -1 : (statSync(join(downloadDir, file), { throwIfNoEntry: false })?.size ?? -1);
}

/** @param {string} reason */
function fail(reason) {
  process.stderr.write(`${reason}\n`);
  process.exit(1);
}
