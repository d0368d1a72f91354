import type { PartnerError } from '../../partner';

export type CheckLevel = 'ok' | 'warning' | 'fault';

/** One thing that was tried. No sentence of it holds a secret, nor a text of the partner. */
export interface Check {
  /** What was tried, such as `order history: search`. */
  name: string;
  level: CheckLevel;
  expected: string;
  got: string;
  /** The variable to change. */
  variable?: string;
  /** What to do. */
  remedy?: string;
}

/** What a check that is not right asks for. */
export interface Change {
  variable?: string;
  remedy: string;
}

export function ok(name: string, expected: string, got: string): Check {
  return { name, level: 'ok', expected, got };
}

/** Works, or nobody can know yet. */
export function warning(name: string, expected: string, got: string, { variable, remedy }: Change): Check {
  return { name, level: 'warning', expected, got, variable, remedy };
}

/** Purchases, reconciliations or deliveries will not work, or not safely, until it is changed. */
export function fault(name: string, expected: string, got: string, { variable, remedy }: Change): Check {
  return { name, level: 'fault', expected, got, variable, remedy };
}

/** How one request ended: with `data`, or with a `problem` in safe words. */
export type Reading<T> = { data: T; problem?: undefined } | { data?: undefined; problem: Problem };

export type Problem = Pick<PartnerError, 'kind' | 'message' | 'httpStatus' | 'traceId'>;
