import type { Client } from '@temporalio/client';
import { DEFAULT_TASK_QUEUE, deliverWorkflowId } from '../src/contracts/names';
import type { ReconciliationResult } from '../src/contracts/reconciliation';
import { reconcileNow } from '../src/starter/reconciliation';
import type { DemoEnvironment } from './environment';
import { ORPHAN } from './scenarios';

const HOUR_MS = 3_600_000;

/**
 * The next morning: the overdue order has come, and someone has ordered without a purchase. A reconciliation finds both;
 * it delivers the first and leaves the second to people.
 */
export async function reconcile(
  { sandbox, temporal }: DemoEnvironment,
  log: (line: string) => void,
): Promise<ReconciliationResult> {
  const createdAt = new Date(Date.now() - HOUR_MS).toISOString();
  await sandbox.placeManualOrder({ referenceId: ORPHAN, items: [{ id: 'demo-instant', quantity: 1 }], createdAt });
  sandbox.advance(HOUR_MS);
  log('\nThe next morning, a reconciliation:\n');
  const result = await reconcileNow(temporal.client, DEFAULT_TASK_QUEUE);
  await deliveriesOf(temporal.client, result);
  for (const { kind, referenceId = '', done, explanation } of result.details) {
    log(`  ${kind.padEnd(24)} ${referenceId.padEnd(11)} ${done.padEnd(7)} ${explanation}`);
  }
  log(`\n  ${result.orders} orders compared, ${result.repaired} repaired; the report: ${result.report}`);
  return result;
}

/** A reconciliation starts deliveries and does not wait for them. */
async function deliveriesOf(client: Client, { details }: ReconciliationResult): Promise<void> {
  for (const { referenceId, repair, done } of details) {
    if (referenceId === undefined || repair !== 'deliver' || done !== 'repaired') continue;
    await client.workflow.getHandle(deliverWorkflowId(referenceId)).result();
  }
}
