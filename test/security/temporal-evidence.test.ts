import { randomUUID } from 'node:crypto';
import { Context } from '@temporalio/activity';
import { Client, Connection } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { NativeConnection, Worker } from '@temporalio/worker';
import '../support/quiet-runtime';
import { waitUntil } from '../support/wait-until';
import { PLACES, type Place, plantOf } from './support/leaky-workflow';
import { type Evidence, findLeaks } from './support/leak-search';
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

describe('the reading of what Temporal knows', () => {
  let running: Evidence[];
  let ended: Evidence[];

  beforeAll(async () => {
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
    await worker.runUntil(async () => {
      const handle = await client.workflow.start('leakyWorkflow', {
        ...{ taskQueue, workflowId: taskQueue, args: [plantOf('input')] },
        staticSummary: plantOf('static summary'),
        staticDetails: plantOf('static details'),
      });
      await handle.signal('nobody-listens', plantOf('signal'));
      await untilPendingFailure(client, taskQueue);
      running = await readTemporal(client, taskQueue);
      await handle.executeUpdate('update', { args: [plantOf('update')] });
      await handle.result().catch(() => undefined);
      ended = await readTemporal(client, taskQueue);
    });
    await Promise.all([connection.close(), native.close()]);
  });

  async function untilPendingFailure(client: Client, workflowId: string): Promise<void> {
    await waitUntil('an activity has failed and is tried again', async () => {
      const { raw } = await client.workflow.getHandle(workflowId).describe();
      return raw.pendingActivities?.some(({ lastFailure }) => lastFailure);
    });
  }

  it.each(PLACES)('finds what was planted in: %s', (place) => {
    const planted = { name: place, value: plantOf(place) };
    expect(findLeaks([planted], [...running, ...ended])).not.toEqual([]);
  });

  it('finds a plant by itself, and not because all of them stand together somewhere', () => {
    const planted = PLACES.map((place) => ({ name: place, value: plantOf(place) }));
    const described = running.filter(({ place }) => place.startsWith('describe'));
    const found = new Set(findLeaks(planted, described).map(({ canary }) => canary));
    expect([...found].toSorted()).toEqual([
      'heartbeat',
      'memo',
      'pending failure',
      'search attribute',
      'static details',
      'static summary',
    ]);
  });
});
