import type { BrakeState, ClosedBrake } from '../contracts/brake';
import { BRAKE_REASONS, type BrakeReason, type FailedPlacement, type PlacementSign } from '../domain/brake';
import { fieldsOf, isInstant, isListOf, isNumber, isOptional, isString } from './value-guards';

/** Whether this is what a placement has shown of the partner. */
export function isPlacementSign(value: unknown): value is PlacementSign {
  return value === 'GOOD' || value === 'NOTHING' || isReason(value);
}

/** What a brake goes on with. Anybody can start one with anything: that begins anew. */
export function readBrakeState(before: unknown): BrakeState {
  const { row, closed, closures, failures, tried } = fieldsOf<BrakeState>(before);
  const isState =
    isListOf(row, isFailedPlacement) &&
    isListOf(tried, isString) &&
    isNumber(closures) &&
    isNumber(failures) &&
    isOptional(closed, isClosed);
  return isState ? (before as BrakeState) : { row: [], closures: 0, failures: 0, tried: [] };
}

function isReason(value: unknown): value is BrakeReason {
  return BRAKE_REASONS.some((known) => known === value);
}

function isFailedPlacement(value: unknown): boolean {
  const { referenceId, sign } = fieldsOf<FailedPlacement>(value);
  return isString(referenceId) && isReason(sign);
}

function isClosed(value: unknown): boolean {
  const { reason, since, until, letThrough } = fieldsOf<ClosedBrake>(value);
  return isReason(reason) && isInstant(since) && isInstant(until) && isOptional(letThrough, isString);
}
