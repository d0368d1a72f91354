import { setTimeout } from 'node:timers/promises';
import { withEnvironment } from '../environment';
import { allOf, meanwhile, references } from '../load';
import { percentile } from '../statistics';
import type { Measured, Run } from './run';

export interface CheckoutCallSettings {
  calls: number;
  /** From the start of one call to the next, ms. */
  everyMs: number;
}

const AT_ONCE = { firstPollMs: 0, pollIntervalMs: 30_000 };

/** How long the call that starts a purchase takes while the worker is busy with earlier ones. */
export function measureCheckoutCall({ cli, side, progress }: Run, settings: CheckoutCallSettings): Promise<Measured> {
  const { calls, everyMs } = settings;
  return withEnvironment(cli, side, 1, async ({ temporal, startWorker }) => {
    await startWorker(AT_ONCE);
    const took: number[] = [];
    const call = async (referenceId: string) => {
      const startedAt = performance.now();
      await side.start(temporal.client, referenceId, 'demo-instant', AT_ONCE);
      took.push(performance.now() - startedAt);
    };
    const [first = '', ...others] = references(calls + 1);
    // The first call opens the connection; a real checkout already has one.
    await call(first);
    took.length = 0;
    const pending: Promise<void>[] = [];
    for (const referenceId of others) {
      pending.push(meanwhile(call(referenceId)));
      await setTimeout(everyMs);
      progress(`${took.length} of ${calls}`);
    }
    await allOf(pending);
    return { startP50: percentile(took, 0.5), startP95: percentile(took, 0.95), startP99: percentile(took, 0.99) };
  });
}
