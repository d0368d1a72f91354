// `node sdk-downloader.mjs KIND VERSION DIR`: downloads a server and prints the size whenever it has grown.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { TestWorkflowEnvironment } from '@temporalio/testing';

const [kind, version, dir = ''] = process.argv.slice(2);
let last = 0;
setInterval(() => {
  const [size = 0] = readdirSync(dir).map((name) => statSync(join(dir, name), { throwIfNoEntry: false })?.size);
  if (size !== last) process.stdout.write(`${(size / 1e6).toFixed(1)} MB\n`);
  last = size;
}, 500).unref();

// The SDK downloads a server only when it starts one. The running server is not needed here.
const server = { executable: { type: /** @type {const} */ ('cached-download'), version, downloadDir: dir } };
const method = kind === 'dev-server' ? 'createLocal' : 'createTimeSkipping';
const environment = await TestWorkflowEnvironment[method]({ server }).catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
await environment?.teardown();
