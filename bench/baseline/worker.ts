import { NativeConnection, Worker } from '@temporalio/worker';
import * as activities from './activities';

/** The worker of the official samples: default options, and workflows that are bundled as it starts. */
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
