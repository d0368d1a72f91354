import { RESOLVE_UPDATE, purchaseWorkflowId } from '../../src/contracts/names';
import type { Decision } from '../../src/contracts/purchase';
import { until, untilSettled } from '../crash/strike';
import type { World } from '../support/world';

/**
 * Decides what waits for a person as a careful one would, with the partner's books beside them: the order that is there is
 * taken, what came is handed over, and what was never bought is given up. At the end nothing is left open.
 *
 * @returns how each purchase ended, and the references in which a person had to decide.
 */
export async function seeThrough(world: World, references: readonly string[]) {
  const decided = new Set<string>();
  for (;;) {
    const ends = await untilSettled(world, references);
    const held = [...ends].filter(([, state]) => state === 'HELD').map(([referenceId]) => referenceId);
    if (held.length === 0) return { ends, decided };
    for (const referenceId of held) {
      decided.add(referenceId);
      await decide(world, referenceId);
    }
  }
}

async function decide(world: World, referenceId: string): Promise<void> {
  const { hold } = await world.starter.status(referenceId);
  if (!hold) return;
  const [order] = await world.sandbox.ordersOf(referenceId);
  const base = { hold: hold.id };
  const decision: Decision = hold.decisions.includes('deliver')
    ? { ...base, decision: 'deliver' }
    : order
      ? { ...base, decision: 'order', orderId: order.id }
      : { ...base, decision: 'abandon' };
  const handle = world.client.workflow.getHandle(purchaseWorkflowId(referenceId));
  await handle.executeUpdate(RESOLVE_UPDATE, { args: [decision] });
  await until(async () => (await world.starter.status(referenceId)).state !== 'HELD');
}
