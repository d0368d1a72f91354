import { randomUUID } from 'node:crypto';
import { Context } from '@temporalio/activity';
import { Client, Connection } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { NativeConnection, Worker } from '@temporalio/worker';
import '../support/quiet-runtime';
import { waitUntil } from '../support/wait-until';
import { PLACES, type Place, plantOf } from './support/leaky-workflow';
import { findLeaks } from './support/leak-search';
import { readTemporal } from './support/temporal-evidence';

const activities = {
  give: async (place: Place) => plantOf(place),
  take: async () => {},
  async fail() {
    const failure = ApplicationFailure.create({
      message: plantOf('activity failure'),
      nonRetryable: true,
      details: [{ deep: plantOf('details of a failure') }],
      cause: new Error(plantOf('cause of a failure')),
    });
    failure.stack = `at leaky (${plantOf('stack of a failure')})`;
    throw failure;
  },
  async hang() {
    Context.current().heartbeat({ deep: plantOf('heartbeat') });
    throw ApplicationFailure.retryable(plantOf('pending failure'));
  },
};

it('what is planted in any place of Temporal is found where the search for leaks reads', async () => {
  const address = process.env.TEST_TEMPORAL_ADDRESS!;
  const taskQueue = `places-${randomUUID()}`;
  const [connection, native] = await Promise.all([
    Connection.connect({ address }),
    NativeConnection.connect({ address }),
  ]);
  const worker = await Worker.create({
    ...{ connection: native, taskQueue, activities },
    workflowsPath: require.resolve('./support/leaky-workflow'),
  });
  const client = new Client({ connection });
  const evidence = await worker.runUntil(async () => {
    const handle = await client.workflow.start('leakyWorkflow', {
      ...{ taskQueue, workflowId: taskQueue, args: [plantOf('input')] },
      staticSummary: plantOf('static summary'),
      staticDetails: plantOf('static details'),
    });
    await handle.signal('nobody-listens', plantOf('signal'));
    await waitUntil('an activity has failed and is tried again', async () =>
      (await handle.describe()).raw.pendingActivities?.some(({ lastFailure }) => lastFailure),
    );
    const running = await readTemporal(client, taskQueue);
    await handle.executeUpdate('update', { args: [plantOf('update')] });
    await handle.result().catch(() => undefined);
    return [...running, ...(await readTemporal(client, taskQueue))];
  });
  await Promise.all([connection.close(), native.close()]);

  const planted = PLACES.map((place) => ({ name: place, value: plantOf(place) }));
  const found = new Set(findLeaks(planted, evidence).map(({ canary }) => canary));
  expect([...found].toSorted()).toEqual(PLACES.toSorted());
});
