import type { BrakeState, ClosedBrake, PurchasingNotice } from '../contracts/brake';
import { BRAKE_REASONS, type BrakeReason, type FailedPlacement, type PlacementSign } from '../domain/brake';
import { fieldsOf, isInstant, isListOf, isNumber, isOptional, isString } from './value-guards';

/** Whether this is what a placement has shown of the partner. */
export function isPlacementSign(value: unknown): value is PlacementSign {
  return value === 'GOOD' || value === 'NOTHING' || isBrakeReason(value);
}

/** What a brake goes on with. Anybody can start one with anything: that begins anew. */
export function readBrakeState(before: unknown): BrakeState {
  const { row, closed, closures, failures, tried, lastWaiting, waking, notices } = fieldsOf<BrakeState>(before);
  const isState =
    isListOf(row, isFailedPlacement) &&
    isListOf(tried, isString) &&
    isListOf(notices, isNotice) &&
    isNumber(closures) &&
    isNumber(failures) &&
    isOptional(closed, isClosed) &&
    isOptional(lastWaiting, isInstant) &&
    isOptional(waking, (value) => value === true);
  return isState ? (before as BrakeState) : { row: [], closures: 0, failures: 0, tried: [], notices: [] };
}

export function isBrakeReason(value: unknown): value is BrakeReason {
  return BRAKE_REASONS.some((known) => known === value);
}

function isFailedPlacement(value: unknown): boolean {
  const { referenceId, sign } = fieldsOf<FailedPlacement>(value);
  return isString(referenceId) && isBrakeReason(sign);
}

function isClosed(value: unknown): boolean {
  const { reason, since, until, letThrough } = fieldsOf<ClosedBrake>(value);
  return isBrakeReason(reason) && isInstant(since) && isInstant(until) && isOptional(letThrough, isString);
}

function isNotice(value: unknown): boolean {
  const { type, at, kind, reason, details, deduplicationKey } = fieldsOf<PurchasingNotice>(value);
  return (
    (type === 'purchasing.paused' || type === 'purchasing.resumed') &&
    [at, reason, deduplicationKey].every(isString) &&
    isBrakeReason(kind) &&
    isListOf(Object.values(fieldsOf<Record<string, string>>(details)), isString)
  );
}
