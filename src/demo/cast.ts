import type { PurchaseItem } from '../contracts/purchase';
import type { PurchaseOutcome } from '../domain/outcome';

/** What the demo does to one purchase, beside starting it. */
export type Twist = 'kill-worker' | 'history-down' | 'cancel' | 'no-answer-then-abandon';

/** One purchase of the demo: what is bought, what it is there to show, and how it must end. */
export interface Part {
  referenceId: string;
  items: PurchaseItem[];
  shows: string;
  expected: PurchaseOutcome;
  twist?: Twist;
}

/** A purchase of every outcome, and of every fate that the partner's orders can have. */
export const CAST: readonly Part[] = [
  part('DEMO-01', 'there at the first look', 'DELIVERED', { 'demo-instant': 2 }),
  part('DEMO-02', 'there within seconds', 'DELIVERED', { 'demo-seconds': 1 }),
  part('DEMO-03', '20 minutes, on a clock 30 times as fast', 'DELIVERED', { 'demo-slow': 1 }),
  part('DEMO-04', 'two products in one sale', 'DELIVERED', { 'demo-instant': 1, 'demo-seconds': 3 }),
  part('DEMO-05', 'QR codes as images', 'DELIVERED', { 'demo-image': 2 }),
  part('DEMO-06', 'half of it comes', 'PARTIALLY_DELIVERED', { 'demo-partial': 4 }),
  part('DEMO-07', 'complete, but one key is missing', 'PARTIALLY_DELIVERED', { 'demo-short': 3 }),
  part('DEMO-08', 'the partner gives the money back', 'REFUNDED', { 'demo-refunded': 1 }),
  part('DEMO-09', 'the partner fails', 'FAILED', { 'demo-failed': 1 }),
  part('DEMO-10', 'out of stock', 'REJECTED', { 'demo-out-of-stock': 1 }),
  part('DEMO-11', 'a status that no document names', 'DELIVERED', { 'demo-strange': 1 }),
  part('DEMO-12', 'not there after 25 minutes', 'OVERDUE', { 'demo-late': 1 }),
  part('DEMO-13', 'worker killed while the partner takes the money', 'DELIVERED', { 'demo-seconds': 2 }, 'kill-worker'),
  part(
    'DEMO-14',
    'the partner can never be asked: nothing is sent',
    'NOT_PLACED',
    { 'demo-instant': 1 },
    'history-down',
  ),
  part('DEMO-15', 'cancelled before anything was bought', 'CANCELLED', { 'demo-instant': 1 }, 'cancel'),
  part(
    'DEMO-16',
    'no answer, no order: a person gives it up',
    'ABANDONED',
    { 'demo-instant': 1 },
    'no-answer-then-abandon',
  ),
];

function part(
  referenceId: string,
  shows: string,
  expected: PurchaseOutcome,
  items: Record<string, number>,
  twist?: Twist,
): Part {
  const bought = Object.entries(items).map(([productId, quantity]) => ({ productId, quantity }));
  return { referenceId, items: bought, shows, expected, ...(twist && { twist }) };
}
