import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { workflowCodeOptions } from '../../../src/workflows/policies';
import '../../support/quiet-runtime';

describe('a worker process that is frozen in the middle of a workflow task', () => {
  it('finishes the task: cutting the code short would fail it, and could make Node end the process', async () => {
    const address = process.env.TEST_TEMPORAL_ADDRESS!;
    const [connection, native] = await Promise.all([
      Connection.connect({ address }),
      NativeConnection.connect({ address }),
    ]);
    const taskQueue = `frozen-${randomUUID()}`;
    const workflowsPath = require.resolve('../../support/frozen-workflow');
    const worker = await Worker.create({ connection: native, taskQueue, workflowsPath, ...workflowCodeOptions });
    const handle = await worker.runUntil(async () => {
      const { workflow } = new Client({ connection });
      const started = await workflow.start('frozenWorkflow', { taskQueue, workflowId: taskQueue });
      expect(await started.result()).toBe('went on');
      return started;
    });

    const { events } = await handle.fetchHistory();
    expect(events?.filter((event) => event.workflowTaskFailedEventAttributes)).toEqual([]);
    await Promise.all([connection.close(), native.close()]);
  });
});
