import type { PurchaseItem } from '../src/domain/purchase-item';
import type { PurchaseOutcome } from '../src/domain/purchase-state';

/** What goes wrong in a purchase, or what an operator does to it. */
export type ScenarioFault = 'kill-worker' | 'history-down' | 'cancel' | 'no-response-then-abandon';

/** One purchase of the demo. */
export interface Scenario {
  referenceId: string;
  items: PurchaseItem[];
  /** What the purchase demonstrates, in at most 28 characters, so that the last table fits into 80 columns. */
  shows: string;
  /** How it must end. */
  expected: PurchaseOutcome;
  fault?: ScenarioFault;
}

/** A purchase for each outcome, and for everything that can happen to an order. */
export const SCENARIOS: readonly Scenario[] = [
  scenario('DEMO-01', 'keys at the first poll', 'DELIVERED', { 'demo-instant': 2 }),
  scenario('DEMO-02', 'keys within seconds', 'DELIVERED', { 'demo-seconds': 1 }),
  scenario('DEMO-03', '20-minute order, 30x speed', 'DELIVERED', { 'demo-slow': 1 }),
  scenario('DEMO-04', 'two products in one sale', 'DELIVERED', { 'demo-instant': 1, 'demo-seconds': 3 }),
  scenario('DEMO-05', 'keys as QR code images', 'DELIVERED', { 'demo-image': 2 }),
  scenario('DEMO-06', 'only half of the keys', 'PARTIALLY_DELIVERED', { 'demo-partial': 4 }),
  scenario('DEMO-07', 'complete, one key missing', 'PARTIALLY_DELIVERED', { 'demo-short': 3 }),
  scenario('DEMO-08', 'refunded by the partner', 'REFUNDED', { 'demo-refunded': 1 }),
  scenario('DEMO-09', 'order fails at the partner', 'FAILED', { 'demo-failed': 1 }),
  scenario('DEMO-10', 'out of stock', 'REJECTED', { 'demo-out-of-stock': 1 }),
  scenario('DEMO-11', 'undocumented status', 'DELIVERED', { 'demo-strange': 1 }),
  scenario('DEMO-12', 'keys arrive next morning', 'OVERDUE', { 'demo-late': 1 }),
  scenario('DEMO-13', 'worker killed while buying', 'DELIVERED', { 'demo-seconds': 2 }, 'kill-worker'),
  scenario('DEMO-14', 'history down, nothing sent', 'NOT_PLACED', { 'demo-instant': 1 }, 'history-down'),
  scenario('DEMO-15', 'cancelled before buying', 'CANCELLED', { 'demo-instant': 1 }, 'cancel'),
  scenario('DEMO-16', 'no response, then abandoned', 'ABANDONED', { 'demo-instant': 1 }, 'no-response-then-abandon'),
];

/** The reference of an order that no purchase placed. The reconciliation finds it, but only an operator can explain it. */
export const ORPHAN = 'BY-HAND-01';

export function scenarioWith(fault: ScenarioFault): Scenario {
  const found = SCENARIOS.find((candidate) => candidate.fault === fault);
  if (!found) throw new Error(`no scenario has the fault ${fault}`);
  return found;
}

function scenario(
  referenceId: string,
  shows: string,
  expected: PurchaseOutcome,
  quantities: Record<string, number>,
  fault?: ScenarioFault,
): Scenario {
  const items = Object.entries(quantities).map(([productId, quantity]) => ({ productId, quantity }));
  return { referenceId, items, shows, expected, fault };
}
