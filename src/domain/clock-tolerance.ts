/** The partner's clock and Temporal's may differ by so much: an order this much older than a purchase is not its own. */
export const CLOCK_TOLERANCE_MS = 15 * 60_000;
