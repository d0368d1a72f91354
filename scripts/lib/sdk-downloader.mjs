// `node sdk-downloader.mjs KIND VERSION DIR`: downloads a server, and prints how much has come whenever more has.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { TestWorkflowEnvironment } from '@temporalio/testing';

const [kind, version, downloadDir = ''] = process.argv.slice(2);
const server = { executable: { type: /** @type {const} */ ('cached-download'), version, downloadDir } };

let last = 0;
const watch = setInterval(() => {
  const [file = ''] = readdirSync(downloadDir);
  const size = statSync(join(downloadDir, file), { throwIfNoEntry: false })?.size ?? 0;
  if (file && size !== last) process.stdout.write(`${(size / 1e6).toFixed(1)} MB\n`);
  last = size;
}, 500);

try {
  // The SDK downloads only as part of starting the server; the server itself is not wanted here.
  const environment = await (kind === 'dev-server'
    ? TestWorkflowEnvironment.createLocal({ server })
    : TestWorkflowEnvironment.createTimeSkipping({ server }));
  await environment.teardown();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
} finally {
  clearInterval(watch);
}
