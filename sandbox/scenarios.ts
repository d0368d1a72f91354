import { all, half, type Lifecycle } from './lifecycle';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** A product with fixed behaviour. */
export interface Scenario {
  title: string;
  /** Price of one unit, in minor units of the account's currency. */
  unitMinor: number;
  stock: number;
  lifecycle: Lifecycle;
  image?: true;
}

const PLENTY = 1_000_000;

/** PENDING, then PROCESSING, then `end`. */
function within(seconds: number, end: Omit<Lifecycle[number], 'atMs'>, processingAtMs = 2 * SECOND): Lifecycle {
  return [
    { atMs: 0, status: 'PENDING' },
    { atMs: processingAtMs, status: 'PROCESSING' },
    { atMs: seconds * SECOND, ...end },
  ];
}

function scenario(title: string, unitMinor: number, lifecycle: Lifecycle, more: Partial<Scenario> = {}): Scenario {
  return { title, unitMinor, stock: PLENTY, lifecycle, ...more };
}

/**
 * Products with a fixed lifecycle and a stable id. Order one to see how a client handles it. Times are measured from
 * the creation of the order.
 */
export const SCENARIOS = {
  'demo-instant': scenario('Demo: ready at the first poll', 499, [{ atMs: 0, status: 'COMPLETED' }]),
  'demo-seconds': scenario('Demo: ready within seconds', 999, within(8, { status: 'COMPLETED' })),
  'demo-slow': scenario('Demo: twenty minutes', 1_999, within(1_200, { status: 'COMPLETED' }, 2 * MINUTE)),
  'demo-partial': scenario('Demo: half of the keys', 750, within(8, { status: 'PARTIAL_COMPLETED' })),
  'demo-refunded': scenario('Demo: refunded', 1_249, within(8, { status: 'REFUNDED' })),
  'demo-failed': scenario('Demo: failed', 1_099, within(8, { status: 'FAILED' })),
  'demo-image': scenario('Demo: keys as QR images', 2_500, within(8, { status: 'COMPLETED' }), { image: true }),
  'demo-short': scenario(
    'Demo: complete, one key missing',
    899,
    within(8, { status: 'COMPLETED', keys: (n) => n - 1 }),
  ),
  'demo-strange': scenario('Demo: an unknown status', 649, [
    { atMs: 0, status: 'PENDING' },
    { atMs: 20 * SECOND, status: 'AWAITING_SUPPLIER' },
    { atMs: 90 * SECOND, status: 'COMPLETED' },
  ]),
  'demo-late': scenario('Demo: an hour late', 1_599, within(3_600, { status: 'COMPLETED' }, 2 * MINUTE)),
  'demo-never': scenario('Demo: pending forever', 399, [{ atMs: 0, status: 'PENDING' }]),
  'demo-flapping': scenario('Demo: status flips back and forth', 849, [
    { atMs: 0, status: 'PENDING' },
    { atMs: 45 * SECOND, status: 'PROCESSING' },
    { atMs: 90 * SECOND, status: 'PENDING' },
    { atMs: 135 * SECOND, status: 'PROCESSING' },
    { atMs: 180 * SECOND, status: 'PENDING' },
    { atMs: 225 * SECOND, status: 'COMPLETED' },
  ]),
  'demo-partial-then-complete': scenario('Demo: half of the keys, the rest later', 1_150, [
    ...within(8, { status: 'PARTIAL_COMPLETED', keys: half, paid: all }),
    { atMs: 15 * MINUTE, status: 'COMPLETED' },
  ]),
  'demo-complete-then-refunded': scenario('Demo: complete, refunded later', 1_350, [
    ...within(8, { status: 'COMPLETED' }),
    { atMs: 15 * MINUTE, status: 'REFUNDED' },
  ]),
  'demo-extra': scenario('Demo: one key too many', 949, within(8, { status: 'COMPLETED', keys: (n) => n + 1 })),
  'demo-out-of-stock': scenario('Demo: out of stock', 1_799, within(8, { status: 'COMPLETED' }), { stock: 0 }),
} as const satisfies Record<string, Scenario>;
