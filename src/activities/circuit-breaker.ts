import { performance } from 'node:perf_hooks';

/** What a placement attempt shows about the partner. `UNKNOWN`: neither success nor failure. */
export type PartnerHealth = 'HEALTHY' | 'FAILING' | 'UNKNOWN';

/** Permission for one placement attempt. */
export interface Admission {
  /**
   * Called right before the request, because the breaker may have opened.
   * @returns undefined if the request may be sent
   */
  pauseReason(): string | undefined;
  /**
   * Reports how the attempt ended. Must be called once.
   * @param reason the partner's failure, safe to log
   */
  end(health: PartnerHealth, reason?: string): void;
}

/** Pauses the placements of this process while the partner accepts no orders. */
export interface CircuitBreaker {
  /** @returns permission to try, or the reason why the purchase must ask again later. */
  admit(referenceId: string): Admission | { paused: string };
}

export interface CircuitBreakerOptions {
  /** The time from opening to the first trial request, in ms. Doubles with each failed trial. */
  firstDelayMs: number;
  maxDelayMs: number;
  /**
   * Called when the breaker opens or closes.
   * @param reason the last failure; undefined if the breaker closed
   */
  onChange?: (reason: string | undefined) => void;
  /** Milliseconds of a monotonic clock. */
  now?: () => number;
}

/**
 * Consecutive failures of different purchases. With 5% random failures, five in a row happen about once in three million.
 */
const FAILURES_TO_OPEN = 5;
/** A paused purchase asks again within 5 minutes. After twice that time it has ended, or has asked another worker. */
const STILL_WAITING_MS = 10 * 60_000;

interface OpenCircuit {
  reason: string;
  delayMs: number;
  trialAt: number;
  trial?: string;
  /** Purchases whose trial failed. Others go first. */
  tried: Set<string>;
}

/** The breaker is closed, open, or half-open when a trial is due. One instance serves all placements of a process. */
export function createCircuitBreaker(options: CircuitBreakerOptions): CircuitBreaker {
  const { firstDelayMs, maxDelayMs, onChange = () => undefined, now = () => performance.now() } = options;
  const failedInARow = new Set<string>();
  const askedAt = new Map<string, number>();
  let open: OpenCircuit | undefined;

  const hasOtherWaiting = (than: string, tried: ReadonlySet<string>): boolean => {
    for (const [referenceId, at] of askedAt) if (now() - at > STILL_WAITING_MS) askedAt.delete(referenceId);
    return [...askedAt.keys()].some((referenceId) => referenceId !== than && !tried.has(referenceId));
  };

  const mayTry = (referenceId: string, { trial, trialAt, tried }: OpenCircuit): boolean =>
    trial === undefined && now() >= trialAt && !(tried.has(referenceId) && hasOtherWaiting(referenceId, tried));

  const openFor = (reason: string, delayMs: number, tried: Set<string>): void => {
    open = { reason, delayMs, trialAt: now() + delayMs, tried };
  };

  const noteFailure = (referenceId: string, reason: string): void => {
    if (open?.trial === referenceId) {
      openFor(reason, Math.min(2 * open.delayMs, maxDelayMs), open.tried.add(referenceId));
    } else if (!open && failedInARow.add(referenceId).size >= FAILURES_TO_OPEN) {
      openFor(reason, firstDelayMs, new Set());
      onChange(reason);
    }
  };

  const noteSuccess = (): void => {
    failedInARow.clear();
    askedAt.clear();
    if (open) onChange(undefined);
    open = undefined;
  };

  return {
    admit(referenceId) {
      if (open && !mayTry(referenceId, open)) {
        askedAt.set(referenceId, now());
        return { paused: open.reason };
      }
      askedAt.delete(referenceId);
      if (open) open.trial = referenceId;
      return {
        pauseReason: () => (open && open.trial !== referenceId ? open.reason : undefined),
        end(health, reason = 'a placement failed') {
          if (health === 'HEALTHY') noteSuccess();
          if (health === 'FAILING') noteFailure(referenceId, reason);
          if (open?.trial === referenceId) open.trial = undefined;
        },
      };
    },
  };
}
