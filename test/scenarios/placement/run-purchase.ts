import type { PurchaseStatus } from '../../../src/starter/index';
import type { PurchaseAudit } from '../../support/audit';
import type { PurchaseFault, TestEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';

/** What one purchase came to: what the checkout and people see, and what the partner has of it. */
export interface PurchaseRun extends PurchaseAudit {
  referenceId: string;
  /** The outcome, or `HELD`. */
  state: string;
  status: PurchaseStatus;
}

/** Patient, so that a busy machine changes no outcome. */
export const LENIENT = { placeWithinMs: 600_000, deadlineMs: 600_000, partnerTimeoutMs: 3_000 };

export const INSTANT = { 'demo-instant': 2 };

/** Buys under a reference of its own that meets these faults, and waits until the purchase has ended or is held. */
export async function runPurchase(
  env: TestEnvironment,
  faults: readonly PurchaseFault[] = [],
  items: Record<string, number> = INSTANT,
  referenceId = env.reference(),
): Promise<PurchaseRun> {
  return cameTo(env, await env.buyFacing(faults, items, referenceId));
}

/** Waits until the checkout was notified how a purchase ended, or that it is held. @returns what there is to see of it then */
export async function cameTo(env: TestEnvironment, referenceId: string): Promise<PurchaseRun> {
  const isNotified = () => env.receiver.eventsOf(referenceId)[0];
  const first = await waitUntil(`the checkout was notified of ${referenceId}`, isNotified, { withinMs: 170_000 });
  if (first.type !== 'purchase.held') await env.starter.result(referenceId);
  const status = await env.starter.status(referenceId);
  return { ...(await env.audit(referenceId)), referenceId, status, state: status.state };
}

/** How often the history was searched for a reference. */
export function searchesFor(env: TestEnvironment, referenceId: string): number {
  return env.sandbox.log().filter(({ path }) => path.includes(`query=${referenceId}&`)).length;
}
