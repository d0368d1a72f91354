import { RESOLVE_UPDATE, purchaseWorkflowId } from '../../../src/contracts/names';
import type { Decision } from '../../../src/contracts/purchase';
import { until, untilSettled } from '../crash/strike';
import type { World } from '../../support/world';

/** How purchases ended, and what a person had to decide in which: the decision and the reason of the hold. */
export interface Seen {
  ends: Map<string, string>;
  decided: Map<string, string>;
}

/**
 * Decides what waits for a person as a careful one would, with the partner's books beside them: the order that is there is
 * taken, what came is handed over, and what was never bought is given up. At the end nothing is left open.
 */
export async function seeThrough(world: World, references: readonly string[]): Promise<Seen> {
  const decided = new Map<string, string>();
  for (;;) {
    const ends = await untilSettled(world, references);
    const held = [...ends].filter(([, state]) => state === 'HELD').map(([referenceId]) => referenceId);
    if (held.length === 0) return { ends, decided };
    for (const referenceId of held) decided.set(referenceId, await decide(world, referenceId));
  }
}

async function decide(world: World, referenceId: string): Promise<string> {
  const { hold } = await world.starter.status(referenceId);
  if (!hold) return decide(world, referenceId);
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
  return `--${decision.decision}, held because ${hold.explanation}`;
}
