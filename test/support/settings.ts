import type { PurchaseSettings } from '../../src/contracts/purchase';

/** Settings with the shortest waits, but with time limits that not even a slow machine exceeds. */
export const FAST: PurchaseSettings = {
  placeWithinMs: 600_000,
  firstPollMs: 20,
  pollIntervalMs: 50,
  watch: 'orders',
  deadlineMs: 600_000,
  confirmWindowMs: 600,
  replace: 'answered',
  // A hanging partner is waited for, but a busy one must not exceed it.
  partnerTimeoutMs: 3_000,
  // A test whose checkout hangs waits for it, but a busy machine must not exceed it.
  deliveryTimeoutMs: 5_000,
};

/** Secrets that are trusted only in these tests. */
export const TEST_SIGNING_SECRET = `whsec_${Buffer.from('not-a-secret-not-a-secret-not-a').toString('base64')}`;
export const TEST_FINGERPRINT_SECRET = 'not-a-secret-not-a-secret-not-a-secret';

export const HOUR = 3_600_000;

/** The address of the Temporal UI that reports link to. Nobody opens it. */
export const TEST_UI_URL = 'http://ui.example';
