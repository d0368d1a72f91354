import { setTimeout as sleep } from 'node:timers/promises';
import { reconcileNow } from '../../../src/starter/index';
import type { TestEnvironment } from '../../support/test-environment';

const DAY_S = 24 * 3_600;
/** Only what the run itself did: the orders of nobody that lie before it are not the question. */
const LOOKBACK_MS = 30 * 60_000;
/** A reconciliation leaves alone what is younger than the settling times. */
const REPORTED_WITHIN_MS = 90_000;
const EVERY_MS = 5_000;

/**
 * Reconciles, without repairs, until each of the references is reported as a double purchase.
 *
 * @returns those that are not, after a time in which they must be.
 */
export async function unreportedDoubles(
  environment: TestEnvironment,
  references: readonly string[],
): Promise<string[]> {
  if (references.length === 0) return [];
  await rememberFor(environment, 3 * DAY_S);
  const giveUp = Date.now() + REPORTED_WITHIN_MS;
  for (;;) {
    const { details } = await reconcileNow(environment.client, environment.taskQueue, {
      dryRun: true,
      lookbackMs: LOOKBACK_MS,
    });
    const doubles = details.filter(({ kind }) => kind === 'DOUBLE_PURCHASE').map(({ referenceId }) => referenceId);
    const missing = references.filter((referenceId) => !doubles.includes(referenceId));
    if (missing.length === 0 || Date.now() > giveUp) return missing;
    await sleep(EVERY_MS);
  }
}

/** The dev server forgets after a day, which is too soon for any reconciliation. */
async function rememberFor({ client }: TestEnvironment, seconds: number): Promise<void> {
  await client.workflowService.updateNamespace({
    namespace: client.options.namespace,
    config: { workflowExecutionRetentionTtl: { seconds: seconds as never } },
  });
}
