import type { Client } from '@temporalio/client';
import type { DoctorConfig } from '../../config';
import { placementMaxAge } from '../../workflows/policies';

export interface DoctorOptions {
  config: DoctorConfig;
  /** Connects once. @throws TemporalUnreachableError, TemporalConfigError */
  connect(): Promise<Client>;
  now: () => number;
  /** Something that no id, no reference and no task queue has been before. */
  unique: () => string;
}

/** One thing that was tried. No sentence of it holds a secret, nor a text of the partner. */
export interface Check {
  /** Such as `order history: search`. */
  name: string;
  level: 'ok' | 'warning' | 'fault';
  expected: string;
  got: string;
  /** The variable to change. */
  variable?: string | undefined;
  /** What to do. */
  remedy?: string;
}

/** The ways in which a check can end. */
export interface OpenCheck {
  ok(got: string): void;
  /** It works, or nobody can know yet. @param variable instead of the check's own. */
  warning(got: string, remedy: string, variable?: string): void;
  /** Purchases, reconciliations or deliveries will not work, or not safely, until it is changed. */
  fault(got: string, remedy: string, variable?: string): void;
}

/** Collects what one part of doctor finds. */
export class Findings {
  readonly checks: Check[] = [];
  /** Variables, with the values that were seen to work. */
  readonly settings: Record<string, string> = {};

  /** @param variable the one to change if this is not right. */
  check(name: string, expected: string, variable?: string): OpenCheck {
    const ending =
      (level: 'warning' | 'fault') =>
      (got: string, remedy: string, other = variable) =>
        void this.checks.push({ name, level, expected, got, variable: other, remedy });
    return {
      ok: (got) => void this.checks.push({ name, level: 'ok', expected, got }),
      warning: ending('warning'),
      fault: ending('fault'),
    };
  }

  /**
   * A placement compares a worker's clock with Temporal's: docs/architecture.md#limitations.
   *
   * @param differenceMs the other clock less this machine's.
   * @param partnerTimeoutMs PARTNER_TIMEOUT, which decides how large a difference a placement tolerates.
   */
  compareClocks(whose: 'Temporal' | 'partner', differenceMs: number, partnerTimeoutMs: number): void {
    const theirs = whose === 'partner' ? "the partner's" : "Temporal's";
    const check = this.check(`${whose}: this machine's clock`, `within seconds of ${theirs}`);
    const seconds = Math.round(Math.abs(differenceMs) / 1_000);
    const mostMs = placementMaxAge({ partnerTimeoutMs });
    const got = `${seconds} s ${differenceMs < 0 ? 'ahead' : 'behind'}`;
    const remedy =
      `Set the clock of this machine, or that of the other (NTP). A worker whose clock is ahead of Temporal's by more than ` +
      `${mostMs / 1_000} s places nothing.`;
    if (seconds < 5) check.ok(seconds < 2 ? 'it is' : got);
    else if (seconds * 1_000 < mostMs) check.warning(got, remedy);
    else check.fault(got, remedy);
  }
}
