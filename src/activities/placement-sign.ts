import type { PlacementSign } from '../domain/brake';
import { isPartnerError, type PartnerError } from '../partner';

/** The partner's document shows no status for a balance that does not suffice; this one means nothing else. */
const PAYMENT_REQUIRED = 402;
const METHOD_NOT_ALLOWED = 405;

/** What a placement that named no order has shown of the partner. */
export function signOfPlacement(error: PartnerError): PlacementSign {
  switch (error.placement) {
    case 'ANSWERED':
    case 'UNKNOWN':
      return 'UNKNOWN';
    case 'ACCESS_REFUSED':
      return 'ACCESS_REFUSED';
    case 'NOT_SENT':
      return ['unreachable', 'timeout'].includes(error.kind) ? 'UNREACHABLE' : 'NOTHING';
    case 'ORDER_REFUSED':
      return error.httpStatus === PAYMENT_REQUIRED ? 'NO_BALANCE' : 'REFUSED';
    // It knows this very order, as it does when it works.
    case 'CONFLICT':
      return 'GOOD';
  }
}

/** What a read before a placement has shown of the partner by failing. An answer that can't be used is this read's own matter. */
export function signOfRead(error: unknown): PlacementSign {
  if (!isPartnerError(error)) return 'NOTHING';
  switch (error.kind) {
    case 'access':
    case 'not-found':
      return 'ACCESS_REFUSED';
    case 'status':
      return error.httpStatus === METHOD_NOT_ALLOWED ? 'ACCESS_REFUSED' : 'UNREACHABLE';
    case 'unreachable':
    case 'timeout':
    case 'connection-lost':
    case 'refused':
      return 'UNREACHABLE';
    case 'invalid-argument':
    case 'too-late':
    case 'withdrawn':
    case 'closed':
    case 'unreadable':
    case 'incomplete':
      return 'NOTHING';
  }
}
