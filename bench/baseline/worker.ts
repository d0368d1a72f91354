import { NativeConnection, Worker } from '@temporalio/worker';
import * as activities from './activities';

/** A worker like the ones in the official samples: default options, workflows bundled at start-up. */
async function run(): Promise<void> {
  const connection = await NativeConnection.connect({ address: process.env.TEMPORAL_ADDRESS });
  try {
    const worker = await Worker.create({
      connection,
      namespace: 'default',
      taskQueue: 'baseline',
      workflowsPath: require.resolve('./workflows'),
      activities,
    });
    console.log('worker ready');
    await worker.run();
  } finally {
    await connection.close();
  }
}

run().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
