import type { PurchaseSettings } from '../../src/contracts/purchase';

/** Settings with which a test waits for nothing that it does not look at. */
export const FAST: PurchaseSettings = {
  placeWithinMs: 10_000,
  firstPollMs: 20,
  pollIntervalMs: 50,
  deadlineMs: 30_000,
  settleMs: 600,
  replace: 'answered',
  partnerTimeoutMs: 1_000,
  deliveryTimeoutMs: 1_000,
};
