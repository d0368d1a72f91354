import { performance } from 'node:perf_hooks';

/** What one attempt at a placement showed about the partner; `NOTHING` if it neither failed nor placed an order. */
export type PlacementSign = 'WORKS' | 'FAILS' | 'NOTHING';

/** The permission of one attempt to place an order. */
export interface Admission {
  /** Asked right before the request: others may have opened the circuit breaker since. @returns why it must not be sent */
  whyPaused(): string | undefined;
  /** Reports how the attempt ended, once. @param why the partner's failure, in safe words */
  end(sign: PlacementSign, why?: string): void;
}

/** Stops the placements of this process while the partner takes none. */
export interface CircuitBreaker {
  /** @returns the permission to try, or why the purchase has to ask again later. */
  admit(referenceId: string): Admission | { paused: string };
}

export interface CircuitBreakerOptions {
  /** From opening to the first trial, in ms; it doubles with each trial that fails. */
  firstPauseMs: number;
  longestPauseMs: number;
  /** Called when it opens and when it closes. @param why the last failure; undefined if it closed */
  onChange?: (why: string | undefined) => void;
  /** Milliseconds of a clock that never jumps. */
  now?: () => number;
}

/** Failures of so many different purchases in a row open it: by chance, one failure in twenty is followed by four others once in three million. */
const FAILURES_TO_OPEN = 5;
/** A paused purchase asks again within 5 minutes. One that has not for twice as long asks another worker, or has ended. */
const STILL_WAITING_MS = 10 * 60_000;

interface OpenCircuit {
  why: string;
  pauseMs: number;
  trialAt: number;
  trial?: string;
  /** Purchases whose trial failed: others go first. */
  tried: Set<string>;
}

/** One for all placements of a process: closed, open, or half-open once a trial is due. */
export function createCircuitBreaker(options: CircuitBreakerOptions): CircuitBreaker {
  const { firstPauseMs, longestPauseMs, onChange = () => undefined, now = () => performance.now() } = options;
  const failedInARow = new Set<string>();
  const askedAt = new Map<string, number>();
  let open: OpenCircuit | undefined;

  const anotherWaits = (than: string, tried: ReadonlySet<string>): boolean => {
    for (const [referenceId, at] of askedAt) if (now() - at > STILL_WAITING_MS) askedAt.delete(referenceId);
    return [...askedAt.keys()].some((referenceId) => referenceId !== than && !tried.has(referenceId));
  };

  const mayTry = (referenceId: string, { trial, trialAt, tried }: OpenCircuit): boolean =>
    trial === undefined && now() >= trialAt && !(tried.has(referenceId) && anotherWaits(referenceId, tried));

  const pause = (why: string, pauseMs: number, tried: Set<string>): void => {
    open = { why, pauseMs, trialAt: now() + pauseMs, tried };
  };

  const noteFailure = (referenceId: string, why: string): void => {
    if (open?.trial === referenceId) {
      pause(why, Math.min(2 * open.pauseMs, longestPauseMs), open.tried.add(referenceId));
    } else if (!open && failedInARow.add(referenceId).size >= FAILURES_TO_OPEN) {
      pause(why, firstPauseMs, new Set());
      onChange(why);
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
        return { paused: open.why };
      }
      askedAt.delete(referenceId);
      if (open) open.trial = referenceId;
      return {
        whyPaused: () => (open && open.trial !== referenceId ? open.why : undefined),
        end(sign, why = 'it failed') {
          if (sign === 'WORKS') noteSuccess();
          if (sign === 'FAILS') noteFailure(referenceId, why);
          if (open?.trial === referenceId) open.trial = undefined;
        },
      };
    },
  };
}
