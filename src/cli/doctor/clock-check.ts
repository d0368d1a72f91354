import { placementMaxAge } from '../../workflows/policies';
import { type Check, fault, ok, warning } from './check';

/**
 * A placement compares a worker's clock with Temporal's: docs/architecture.md#limitations.
 *
 * @param whose `Temporal` or `partner`.
 * @param differenceMs the other clock less this machine's.
 * @param partnerTimeoutMs PARTNER_TIMEOUT, which decides how much a placement stands.
 */
export function clockCheck(whose: 'Temporal' | 'partner', differenceMs: number, partnerTimeoutMs: number): Check {
  const name = `${whose}: this machine's clock`;
  const seconds = Math.round(Math.abs(differenceMs) / 1_000);
  const mostMs = placementMaxAge({ partnerTimeoutMs });
  const expected = `within seconds of ${whose === 'partner' ? "the partner's" : "Temporal's"}`;
  const got = `${seconds} s ${differenceMs < 0 ? 'ahead' : 'behind'}`;
  const remedy =
    `Set the clock of this machine, or that of the other (NTP). A worker whose clock is ahead of Temporal's by more than ` +
    `${mostMs / 1_000} s places nothing.`;
  if (seconds < 5) return ok(name, expected, seconds < 2 ? 'it is' : got);
  return seconds * 1_000 < mostMs ? warning(name, expected, got, { remedy }) : fault(name, expected, got, { remedy });
}
