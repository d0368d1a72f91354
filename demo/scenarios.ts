import type { PurchaseItem } from '../src/domain/order';
import type { PurchaseOutcome } from '../src/domain/purchase-state';

/** What goes wrong in one purchase, or what a person does to it. */
export type ScenarioFault = 'kill-worker' | 'history-down' | 'cancel' | 'no-answer-then-abandon';

/** One purchase of the demo: what is bought, what it shows, and how it must end. */
export interface Scenario {
  referenceId: string;
  items: PurchaseItem[];
  shows: string;
  expected: PurchaseOutcome;
  fault?: ScenarioFault;
}

/** A purchase of every outcome, and of everything that can become of the partner's orders. */
export const SCENARIOS: readonly Scenario[] = [
  scenario('DEMO-01', 'there at the first poll', 'DELIVERED', { 'demo-instant': 2 }),
  scenario('DEMO-02', 'there within seconds', 'DELIVERED', { 'demo-seconds': 1 }),
  scenario('DEMO-03', '20 minutes, on a clock 30 times as fast', 'DELIVERED', { 'demo-slow': 1 }),
  scenario('DEMO-04', 'two products in one sale', 'DELIVERED', { 'demo-instant': 1, 'demo-seconds': 3 }),
  scenario('DEMO-05', 'QR codes as images', 'DELIVERED', { 'demo-image': 2 }),
  scenario('DEMO-06', 'half of it comes', 'PARTIALLY_DELIVERED', { 'demo-partial': 4 }),
  scenario('DEMO-07', 'complete, but one key is missing', 'PARTIALLY_DELIVERED', { 'demo-short': 3 }),
  scenario('DEMO-08', 'the partner gives the money back', 'REFUNDED', { 'demo-refunded': 1 }),
  scenario('DEMO-09', 'the partner fails', 'FAILED', { 'demo-failed': 1 }),
  scenario('DEMO-10', 'out of stock', 'REJECTED', { 'demo-out-of-stock': 1 }),
  scenario('DEMO-11', 'a status that no document names', 'DELIVERED', { 'demo-strange': 1 }),
  scenario('DEMO-12', 'not there after 25 minutes', 'OVERDUE', { 'demo-late': 1 }),
  scenario(
    'DEMO-13',
    'worker killed while the partner takes the money',
    'DELIVERED',
    { 'demo-seconds': 2 },
    'kill-worker',
  ),
  scenario(
    'DEMO-14',
    'the partner can never be asked: nothing is sent',
    'NOT_PLACED',
    { 'demo-instant': 1 },
    'history-down',
  ),
  scenario('DEMO-15', 'cancelled before anything was bought', 'CANCELLED', { 'demo-instant': 1 }, 'cancel'),
  scenario(
    'DEMO-16',
    'no answer, no order: a person gives it up',
    'ABANDONED',
    { 'demo-instant': 1 },
    'no-answer-then-abandon',
  ),
];

/** An order that no purchase asked for, so that the reconciliation finds something that only a person can answer. */
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
