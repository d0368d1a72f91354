import type { RequestEvidence } from '../domain/placement';
import type { PartnerErrorKind } from './error-kind';

/** What a failed request can prove. */
export type ErrorEvidence = Exclude<RequestEvidence, 'PLACED'>;

/**
 * What the end of a place-order request proves when it did not name an order: the one place that knows. Only `NOT_SENT`
 * makes a repetition safe.
 *
 * @param kind how the request ended.
 * @param facts `httpStatus` of the answer, with `access`, `not-found` and `status`; `sent`, with `timeout`.
 */
export function placementEvidenceOf(
  kind: PartnerErrorKind,
  { httpStatus = 0, sent = true }: { httpStatus?: number; sent?: boolean },
): ErrorEvidence {
  switch (kind) {
    case 'invalid-argument':
    case 'unreachable':
    case 'too-late':
    case 'withdrawn':
    case 'closed':
      return 'NOT_SENT';
    case 'timeout':
      return sent ? 'UNKNOWN' : 'NOT_SENT';
    case 'access':
    case 'not-found':
    case 'status':
      return placementEvidenceOfStatus(httpStatus);
    case 'refused':
      return 'ANSWERED';
    case 'connection-lost':
    case 'unreadable':
    case 'incomplete':
      return 'UNKNOWN';
  }
}

/** The evidence that an HTTP status other than 2xx gives by itself. */
export function placementEvidenceOfStatus(status: number): ErrorEvidence {
  switch (status) {
    // About this order: its items, its size, the balance.
    case 400:
    case 402:
    case 413:
    case 415:
    case 422:
      return 'ORDER_REFUSED';
    // About us: a rotated key, a wrong prefix.
    case 401:
    case 403:
    case 404:
    case 405:
      return 'ACCESS_REFUSED';
    // The order is probably there, from this request or an earlier one.
    case 409:
      return 'CONFLICT';
    default:
      // An error that leaves open whether it bought; 1xx, 3xx and the other 4xx prove nothing.
      return isPassing(status) ? 'ANSWERED' : 'UNKNOWN';
  }
}

/** Whether the status says that the same request may succeed later. */
export function isPassing(status: number): boolean {
  return [408, 425, 429].includes(status) || status >= 500;
}
