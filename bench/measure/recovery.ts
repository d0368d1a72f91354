import { type Environment, withEnvironment } from '../environment';
import { meanwhile, references, startAll, untilReached } from '../load';
import type { Side } from '../sides';
import type { LoadSettings } from './purchases';
import type { Measured, Run } from './run';

/** Longer than the baseline's activity timeout, after which Temporal retries its activities. */
const STALL_MS = 120_000;

/** Kills the worker when half of the orders have been placed, starts another at once, and waits for all deliveries. */
export function measureRecovery({ cli, side, progress }: Run, settings: LoadSettings): Promise<Measured> {
  const { purchases, product, speed } = settings;
  return withEnvironment(cli, side, speed, async (environment) => {
    const { sandbox, receiver, startWorker } = environment;
    const worker = await startWorker(settings);
    const starting = meanwhile(startAll(environment, side, references(purchases), product, settings));
    await untilReached(purchases / 2, async () => (await sandbox.requests()).place, STALL_MS, progress);
    const killedAt = Date.now();
    await worker.stop('SIGKILL');
    await startWorker(settings);
    await starting;
    const finished = async () => receiver.deliveredAt.size + (await heldPurchases(environment, side));
    await untilReached(purchases, finished, STALL_MS, progress);
    const lastAt = Math.max(...receiver.deliveredAt.values());
    const measured = await audit(environment);
    const held = await heldPurchases(environment, side);
    return { ...measured, recoverySeconds: (lastAt - killedAt) / 1_000, held };
  });
}

async function heldPurchases({ temporal }: Environment, side: Side): Promise<number> {
  if (side.name === 'baseline') return 0;
  return (await temporal.client.workflow.count(`PurchaseState = 'HELD' AND ExecutionStatus = 'Running'`)).count;
}

/** Compares the partner's ledger with what the checkout received. */
async function audit({ sandbox, receiver }: Environment): Promise<Measured> {
  const { references: bought } = await sandbox.ledger();
  const issued = bought.flatMap(({ orders }) => orders.flatMap(({ items }) => items));
  const isLost = (keys: { value: string }[] = []) => keys.some(({ value }) => !receiver.keys.has(value));
  return {
    doubles: bought.filter(({ orders }) => orders.length > 1).length,
    lost: issued.filter(({ keys }) => isLost(keys)).length,
  };
}
