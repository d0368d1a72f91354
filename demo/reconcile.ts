import type { Client } from '@temporalio/client';
import { deliverWorkflowId } from '../src/contracts/names';
import type { ReconciliationResult } from '../src/contracts/reconciliation';
import { reconcileNow } from '../src/starter/reconciliation';
import type { DemoEnvironment } from './environment';
import { wrapped } from './progress';
import { ORPHAN } from './scenarios';

const HOUR_MS = 3_600_000;

/**
 * Reconciles the next morning. By then the overdue order is complete, and the partner has an order that no purchase
 * placed. The reconciliation delivers the keys of the first order and reports the second one.
 */
export async function reconcile(
  { sandbox, temporal, taskQueue }: DemoEnvironment,
  log: (line: string) => void,
): Promise<ReconciliationResult> {
  const createdAt = new Date(Date.now() - HOUR_MS).toISOString();
  await sandbox.placeManualOrder({ referenceId: ORPHAN, items: [{ id: 'demo-instant', quantity: 1 }], createdAt });
  sandbox.advance(HOUR_MS);
  log('\nThe next morning, a reconciliation compares both sides:\n');
  const result = await reconcileNow(temporal.client, taskQueue);
  await deliveriesOf(temporal.client, result);
  const { details, orders, repaired, report } = result;
  for (const { kind, referenceId = '', done, explanation } of details) {
    log(`  ${referenceId}  ${kind}, ${done}`);
    log(wrapped(explanation, '    '));
  }
  const open = details.length - repaired;
  log(`\n  ${orders} orders compared: ${repaired} repaired, ${open} left for an operator`);
  log(`  report  ${report}\n`);
  return result;
}

/** Waits for the deliveries, because the reconciliation only starts them. */
async function deliveriesOf(client: Client, { details }: ReconciliationResult): Promise<void> {
  for (const { referenceId, repair, done } of details) {
    if (referenceId === undefined || repair !== 'deliver' || done !== 'repaired') continue;
    await client.workflow.getHandle(deliverWorkflowId(referenceId)).result();
  }
}
