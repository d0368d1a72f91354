import { DEFAULT_TASK_QUEUE } from '../contracts/names';
import type { ReconciliationResult } from '../contracts/reconciliation';
import { reconcileNow } from '../starter/reconciliation';
import type { Screen } from './screen';
import type { Stage } from './stage';

/** An order that no purchase asked for, so that there is something only a person can answer. */
export const ORPHAN = 'BY-HAND-01';

/**
 * The morning after: the overdue order has come, and someone has ordered by hand. A reconciliation finds both; it delivers
 * the first and leaves the second to people.
 */
export async function reconcileInTheMorning(stage: Stage, screen: Screen): Promise<ReconciliationResult> {
  await stage.sandbox.placeManualOrder({
    referenceId: ORPHAN,
    items: [{ id: 'demo-instant', quantity: 1 }],
    createdAt: anHourAgo(),
  });
  stage.sandbox.advance(60 * 60_000);
  screen.say('\nThe next morning, a reconciliation:\n');
  const result = await reconcileNow(stage.temporal.client, DEFAULT_TASK_QUEUE);
  for (const finding of result.details) {
    screen.say(
      `  ${finding.kind.padEnd(24)} ${(finding.referenceId ?? '').padEnd(11)} ${finding.done.padEnd(7)} ${finding.explanation}`,
    );
  }
  screen.say(`\n  ${result.orders} orders compared, ${result.mended} mended; the report: ${result.report}`);
  return result;
}

function anHourAgo(): string {
  return new Date(Date.now() - 3_600_000).toISOString();
}
