import { withEnvironment } from '../environment';
import { callEach, POLLED_AT_ONCE, references } from '../load';
import { percentile } from '../statistics';
import type { Measured, Run } from './run';

export interface CheckoutCallSettings {
  calls: number;
  /** From the start of one call to the next, ms. */
  everyMs: number;
}

/** How long the call that starts a purchase takes while the worker is busy with earlier ones. */
export function measureCheckoutCall({ cli, side, progress }: Run, settings: CheckoutCallSettings): Promise<Measured> {
  const { calls, everyMs } = settings;
  return withEnvironment(cli, side, 1, async ({ temporal, startWorker }) => {
    await startWorker(POLLED_AT_ONCE);
    const took: number[] = [];
    const call = async (referenceId: string) => {
      const startedAt = performance.now();
      await side.start(temporal.client, referenceId, 'demo-instant', POLLED_AT_ONCE);
      took.push(performance.now() - startedAt);
    };
    const [first = '', ...others] = references(calls + 1);
    // The first call opens the connection; a real checkout already has one.
    await call(first);
    took.length = 0;
    await callEach(others, everyMs, call, progress);
    return { startP50: percentile(took, 0.5), startP95: percentile(took, 0.95), startP99: percentile(took, 0.99) };
  });
}
