import type { Client } from '@temporalio/client';
import type { DoctorConfig } from '../../config';
import { placementMaxAgeMs } from '../../workflows/policies';
import type { UiViews } from '../ui-views';

export interface DoctorOptions {
  config: DoctorConfig;
  /**
   * Tries once to connect. `isKeyUnencrypted`: an API key is sent without TLS.
   *
   * @throws TemporalUnreachableError, TemporalConfigError
   */
  connect(): Promise<{ client: Client; isKeyUnencrypted: boolean }>;
  now: () => number;
}

/** The result of one check. Its texts contain no secret and nothing that the partner wrote. */
export interface Check {
  /** Such as `order history: search`. */
  name: string;
  /**
   * `warning`: it works, or is not known yet. `problem`: purchases, reconciliations or deliveries will not work, or not
   * safely.
   */
  level: 'ok' | 'warning' | 'problem';
  expected: string;
  got: string;
  /** It could not be tested. `got` says why. */
  untested?: true;
  /** `got` is a sentence of its own, which is printed without `expected`. */
  isSentence?: true;
  /** The variable to change. */
  variable?: string | undefined;
  /** What to do. */
  remedy?: string;
}

/** A check that has no result yet. */
export type OpenCheck = ReturnType<Checklist['check']>;

/** Collects the check results of one part of doctor. */
export class Checklist {
  readonly checks: Check[] = [];
  /** Variables, with values that work. */
  readonly settings: Record<string, string> = {};
  /** Set when Temporal has been reached, if TEMPORAL_UI_URL is set. */
  views: UiViews | undefined;

  /** @param variable the variable to change if the check fails, unless its result names another variable. */
  check(name: string, expected: string, variable?: string) {
    const ending =
      (level: Check['level']) =>
      (got: string, remedy: string, other = variable) =>
        void this.checks.push({ name, level, expected, got, variable: other, remedy });
    return {
      ok: (got: string) => void this.checks.push({ name, level: 'ok', expected, got }),
      untested: (got: string, remedy: string) =>
        void this.checks.push({ name, level: 'warning', expected, got, untested: true, variable, remedy }),
      warning: ending('warning'),
      problem: ending('problem'),
      failed: (got: string, remedy: string, other = variable) =>
        void this.checks.push({ name, level: 'problem', expected, got, isSentence: true, variable: other, remedy }),
    };
  }
}

/** For a part whose settings are invalid. The configuration's own check names them. */
export const NOT_TESTED = 'not tested, because its settings are not valid';
export const RUN_AGAIN = 'Correct the configuration, then run doctor again.';

export const PLAINTEXT_REMEDY =
  'ALLOW_PLAINTEXT=true allows this, but anyone on the network path can read the traffic. Use TLS if you can.';

/**
 * Checks this machine's clock, because a placement compares a worker's clock with Temporal's.
 *
 * @param differenceMs the other clock minus this machine's.
 * @param partnerTimeoutMs PARTNER_TIMEOUT, which sets the difference that a placement tolerates.
 */
export function compareClocks(
  checklist: Checklist,
  whose: 'Temporal' | 'partner',
  differenceMs: number,
  partnerTimeoutMs: number,
): void {
  const otherClock = whose === 'partner' ? "the partner's" : "Temporal's";
  const check = checklist.check(`${whose}: clock`, `this machine's clock within 5 s of ${otherClock}`);
  const seconds = Math.round(Math.abs(differenceMs) / 1_000);
  const maxSeconds = placementMaxAgeMs({ partnerTimeoutMs }) / 1_000;
  const got = seconds < 2 ? 'less than 2 s apart' : `${seconds} s ${differenceMs < 0 ? 'ahead' : 'behind'}`;
  if (seconds < 5) return check.ok(got);
  const remedy =
    'Synchronise the clocks of both machines (NTP). ' +
    `A worker whose clock is more than ${maxSeconds} s ahead of Temporal's places no orders.`;
  check[seconds < maxSeconds ? 'warning' : 'problem'](got, remedy);
}
