import type { PurchaseStatus } from '../../../src/starter/index';
import type { PurchaseAudit } from '../../support/audit';
import type { PurchaseFault, TestEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';

/** One purchase as the checkout, operators and the partner see it. */
export interface PurchaseRun extends PurchaseAudit {
  referenceId: string;
  /** The outcome, or `HELD`. */
  state: string;
  status: PurchaseStatus;
}

export const INSTANT = { 'demo-instant': 2 };

/** Starts a purchase under its own reference with these faults, and waits until it has ended or is held. */
export async function runPurchase(
  env: TestEnvironment,
  faults: readonly PurchaseFault[] = [],
  items: Record<string, number> = INSTANT,
  referenceId = env.reference(),
): Promise<PurchaseRun> {
  return waitForOutcomeOrHold(env, await env.buyFacing(faults, items, referenceId));
}

/** Waits until the checkout is notified of an outcome or a hold. @returns the state of the purchase at that time */
export async function waitForOutcomeOrHold(env: TestEnvironment, referenceId: string): Promise<PurchaseRun> {
  const isNotified = () => env.receiver.eventsOf(referenceId)[0];
  const first = await waitUntil(`the checkout was notified of ${referenceId}`, isNotified);
  if (first.type !== 'purchase.held') await env.starter.result(referenceId);
  const status = await env.starter.status(referenceId);
  return { ...(await env.audit(referenceId)), referenceId, status, state: status.state };
}

/** How many times the history was searched for a reference. */
export function searchesFor(env: TestEnvironment, referenceId: string): number {
  return env.sandbox.log().filter(({ path }) => path.includes(`query=${referenceId}&`)).length;
}
