import { PURCHASE_OUTCOMES, type PurchaseState } from '../domain/purchase-state';
import { PURCHASE_STATE } from './search-attributes';

/*
 * Visibility queries for purchases in Temporal's lists. Every `since` is in epoch ms.
 */

/**
 * Purchases in a state.
 * @param since leaves out purchases that ended earlier. It has no effect on the states of a running purchase.
 */
export function inState(state: PurchaseState, since?: number): string {
  const inIt = `${PURCHASE_STATE.name} = '${state}'`;
  // A terminated purchase keeps the last state that it showed.
  if (!PURCHASE_OUTCOMES.some((outcome) => outcome === state)) return `${inIt} AND ExecutionStatus = 'Running'`;
  const ended = `${inIt} AND ExecutionStatus = 'Completed'`;
  return since === undefined ? ended : `${ended} AND ${closedSince(since)}`;
}

/** Purchases that ended without a result: they failed, timed out, or were terminated or cancelled. */
export function withoutResult(since: number): string {
  return `ExecutionStatus IN ('Failed', 'Terminated', 'TimedOut', 'Canceled') AND ${closedSince(since)}`;
}

/**
 * `ATTRIBUTE IN (…)`.
 * @param values must not contain quotation marks
 */
export function anyOf(attribute: string, values: readonly string[]): string {
  return `${attribute} IN (${[...new Set(values)].map((value) => `'${value}'`).join(', ')})`;
}

/** The same as several queries of at most `size` values each, because servers limit the length of a query. */
export function* anyOfInBatches(attribute: string, values: readonly string[], size: number): Generator<string> {
  for (let at = 0; at < values.length; at += size) yield anyOf(attribute, values.slice(at, at + size));
}

function closedSince(since: number): string {
  return `CloseTime >= '${new Date(since).toISOString()}'`;
}
