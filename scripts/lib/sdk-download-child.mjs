import { TestWorkflowEnvironment } from '@temporalio/testing';

// The SDK downloads only as part of starting the server; the server itself is not wanted here.
const [kind, version, downloadDir] = process.argv.slice(2);
const server = { executable: { type: /** @type {const} */ ('cached-download'), version, downloadDir } };

const environment =
  kind === 'dev-server'
    ? TestWorkflowEnvironment.createLocal({ server })
    : TestWorkflowEnvironment.createTimeSkipping({ server });

await environment.then(
  (started) => started.teardown(),
  (error) => {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  },
);
