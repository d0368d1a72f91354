import { setTimeout as pause } from 'node:timers/promises';
import { reconcileNow } from '../../../src/starter';
import type { World } from '../../support/world';

const DAY_S = 24 * 3_600;
/** Only what the run itself did: the orders of nobody that lie before it are not the question. */
const LOOKBACK_MS = 30 * 60_000;
/** A reconciliation leaves alone what is younger than the settling times. */
const PATIENCE_MS = 90_000;
const EVERY_MS = 5_000;

/**
 * Reconciles, without mending, until each of the references is reported as a double purchase.
 *
 * @returns those that are not, after a time in which they must be.
 */
export async function unreported(world: World, references: readonly string[]): Promise<string[]> {
  if (references.length === 0) return [];
  await rememberFor(world, 3 * DAY_S);
  const giveUp = Date.now() + PATIENCE_MS;
  for (;;) {
    const { details } = await reconcileNow(world.client, world.taskQueue, { dryRun: true, lookbackMs: LOOKBACK_MS });
    const doubles = details.filter(({ kind }) => kind === 'DOUBLE_PURCHASE').map(({ referenceId }) => referenceId);
    const missing = references.filter((referenceId) => !doubles.includes(referenceId));
    if (missing.length === 0 || Date.now() > giveUp) return missing;
    await pause(EVERY_MS);
  }
}

/** The dev server forgets after a day, which is too soon for any reconciliation. */
async function rememberFor({ client }: World, seconds: number): Promise<void> {
  await client.workflowService.updateNamespace({
    namespace: client.options.namespace,
    config: { workflowExecutionRetentionTtl: { seconds: seconds as never } },
  });
}
