import type { Client } from '@temporalio/client';
import type { DoctorConfig } from '../../config';
import { placementMaxAge } from '../../workflows/policies';
import type { UiViews } from '../ui-views';

export interface DoctorOptions {
  config: DoctorConfig;
  /** Connects once. `isKeyPlain`: a key is sent without TLS. @throws TemporalUnreachableError, TemporalConfigError */
  connect(): Promise<{ client: Client; isKeyPlain: boolean }>;
  now: () => number;
}

/** One thing that was tried. No sentence of it holds a secret, nor a text of the partner. */
export interface Check {
  /** Such as `order history: search`. */
  name: string;
  /** `warning`: it works, or nobody can know yet. `fault`: purchases, reconciliations or deliveries will not work, or not safely. */
  level: 'ok' | 'warning' | 'fault';
  expected: string;
  got: string;
  /** The variable to change. */
  variable?: string | undefined;
  /** What to do. */
  remedy?: string;
}

/** A check that is under way. */
export type OpenCheck = ReturnType<Findings['check']>;

/** Collects what one part of doctor finds. */
export class Findings {
  readonly checks: Check[] = [];
  /** Variables, with the values that were seen to work. */
  readonly settings: Record<string, string> = {};
  /** Set once Temporal has been reached, if TEMPORAL_UI_URL is set. */
  views: UiViews | undefined;

  /** @param variable the one to change if this is not right, unless the ending names another. */
  check(name: string, expected: string, variable?: string) {
    const ending =
      (level: Check['level']) =>
      (got: string, remedy: string, other = variable) =>
        void this.checks.push({ name, level, expected, got, variable: other, remedy });
    return {
      ok: (got: string) => void this.checks.push({ name, level: 'ok', expected, got }),
      warning: ending('warning'),
      fault: ending('fault'),
    };
  }
}

export const PLAINTEXT_REMEDY =
  'ALLOW_PLAINTEXT=true allows that: all who share the network between can read it. Use TLS where you can.';

/**
 * A placement compares a worker's clock with Temporal's: docs/architecture.md#limitations.
 *
 * @param differenceMs the other clock less this machine's.
 * @param partnerTimeoutMs PARTNER_TIMEOUT, which decides how large a difference a placement tolerates.
 */
export function compareClocks(
  findings: Findings,
  whose: 'Temporal' | 'partner',
  differenceMs: number,
  partnerTimeoutMs: number,
): void {
  const theirs = whose === 'partner' ? "the partner's" : "Temporal's";
  const check = findings.check(`${whose}: this machine's clock`, `within seconds of ${theirs}`);
  const seconds = Math.round(Math.abs(differenceMs) / 1_000);
  const most = placementMaxAge({ partnerTimeoutMs }) / 1_000;
  const got = seconds < 2 ? 'it is' : `${seconds} s ${differenceMs < 0 ? 'ahead' : 'behind'}`;
  if (seconds < 5) return check.ok(got);
  const remedy =
    'Set the clock of this machine, or that of the other (NTP). ' +
    `A worker whose clock is ahead of Temporal's by more than ${most} s places nothing.`;
  check[seconds < most ? 'warning' : 'fault'](got, remedy);
}
