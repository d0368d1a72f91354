import type { Worker } from '@temporalio/worker';
import { runWorker } from '../../../src/temporal/worker';
import { rejectionOf } from '../../support/checks';

const LIMITS = { everyMs: 1, withinMs: 1 };
const never = () => new Promise<void>(() => {});

/** As much of a worker as is looked at. */
const workerOf = (state: ReturnType<Worker['getState']>, run: () => Promise<void>) => ({ getState: () => state, run });

describe('a worker that runs', () => {
  it('is not waited for once it has failed, because the SDK may wait for ever: nobody restarts a process that lives', async () => {
    const failure = await rejectionOf(runWorker(workerOf('FAILED', never), LIMITS));
    expect(failure?.message).toContain('the worker has failed');
  });

  it('ends with what the SDK says of its failure, where that comes in time', async () => {
    const refused = workerOf('FAILED', () => Promise.reject(new Error('refused')));
    expect((await rejectionOf(runWorker(refused, LIMITS)))?.message).toBe('refused');
  });

  it.each(['RUNNING', 'STOPPING', 'DRAINING'] as const)('is left its time while it is %s', async (state) => {
    let end = (): void => {};
    const worker = workerOf(state, () => new Promise((resolve) => (end = resolve)));
    const running = runWorker(worker, LIMITS);
    // Longer than a failed one would get.
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setTimeout(resolve, 1));
    end();
    expect(await running).toBeUndefined();
  });
});
