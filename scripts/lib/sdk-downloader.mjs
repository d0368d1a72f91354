// `node sdk-downloader.mjs KIND VERSION DIR`: downloads a server, and prints how much has come whenever more has.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { TestWorkflowEnvironment } from '@temporalio/testing';

const [kind, version, downloadDir = ''] = process.argv.slice(2);
let last = 0;
setInterval(() => {
  const files = readdirSync(downloadDir).map((name) => statSync(join(downloadDir, name), { throwIfNoEntry: false }));
  const size = files[0]?.size ?? 0;
  if (size !== last) process.stdout.write(`${(size / 1e6).toFixed(1)} MB\n`);
  last = size;
}, 500).unref();

// The SDK downloads only as part of starting the server; the server itself is not wanted here.
const server = { executable: { type: /** @type {const} */ ('cached-download'), version, downloadDir } };
const method = kind === 'dev-server' ? 'createLocal' : 'createTimeSkipping';
const environment = await TestWorkflowEnvironment[method]({ server }).catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
await environment?.teardown();
