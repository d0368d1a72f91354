import { readFileSync } from 'node:fs';
import { Client, Connection } from '@temporalio/client';
import { loadEnvFile, readStarterConfig } from '../../src/config';
import { readTemporalTarget } from '../../src/temporal/client';
import { closeAtEnd } from '../support/clean-up';
import { WORKFLOW_BUNDLE } from '../support/worker';
import { replay } from './histories';

/**
 * Replays the open workflows of a real namespace with this build before it is deployed:
 * docs/deploying.md#replay-open-histories. Jest runs this file only on request. It reads histories and changes nothing.
 */
it('this build replays every open workflow of the task queue without a non-determinism error', async () => {
  loadEnvFile();
  const config = readStarterConfig();
  const { connectionOptions, namespace } = readTemporalTarget(process.env, config);
  const connection = await Connection.connect(connectionOptions);
  closeAtEnd(() => connection.close());
  const { taskQueue } = config;
  const client = new Client({ connection, namespace });
  const open = client.workflow.list({ query: `TaskQueue = '${taskQueue}' AND ExecutionStatus = 'Running'` });

  const { count, failed } = await replay(readFileSync(WORKFLOW_BUNDLE, 'utf8'), open.intoHistories());
  process.stdout.write(`${count} open workflows of ${taskQueue} in ${namespace} replayed\n`);
  expect(failed).toEqual([]);
}, 3_600_000);
