import type { Worker } from '@temporalio/worker';
import { runWorker } from '../../../src/temporal/worker';
import { rejectionOf } from '../../support/checks';

const LIMITS = { everyMs: 1, withinMs: 1 };
const never = () => new Promise<void>(() => {});

/** The part of a worker that the code uses. */
const workerOf = (state: ReturnType<Worker['getState']>, run: () => Promise<void>) => ({ getState: () => state, run });

describe('a running worker', () => {
  it('is not awaited after it has failed: the SDK may wait forever, and a live process is never restarted', async () => {
    const failure = await rejectionOf(runWorker(workerOf('FAILED', never), LIMITS));
    expect(failure?.message).toContain('the worker has failed');
  });

  it('fails with the error of the SDK if that arrives in time', async () => {
    const refused = workerOf('FAILED', () => Promise.reject(new Error('refused')));
    expect((await rejectionOf(runWorker(refused, LIMITS)))?.message).toBe('refused');
  });

  it.each(['RUNNING', 'STOPPING', 'DRAINING'] as const)('gets all the time it needs while it is %s', async (state) => {
    let end = (): void => {};
    const worker = workerOf(state, () => new Promise((resolve) => (end = resolve)));
    const running = runWorker(worker, LIMITS);
    // Longer than a failed worker would get.
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setTimeout(resolve, 1));
    end();
    expect(await running).toBeUndefined();
  });
});
