import { MockActivityEnvironment } from '@temporalio/testing';
import { openProgress } from '../../../src/activities/progress';

it('sends the first heartbeat at once and later ones at most twice a second, because each is a message to the server', async () => {
  const environment = new MockActivityEnvironment();
  const beats: unknown[] = [];
  environment.on('heartbeat', (details) => beats.push(details));

  await environment.run(async () => {
    const progress = openProgress();
    for (let done = 0; done < 100_000; done++) progress.show('confirming', { done });
    progress.close();
  });

  expect(beats[0]).toEqual({ step: 'started' });
  expect(beats.length).toBeLessThan(1_000);
});
