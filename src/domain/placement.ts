/**
 * What the answer to one place-order request proves. The partner promises no idempotency and shows no error format,
 * so an answer is evidence, never a fact about money, until it says plainly that nothing was bought.
 *
 * - `NOT_SENT`: the request surely never left this process. Sending it again is safe.
 * - `PLACED`: the partner took the order and named its id.
 * - `ORDER_REFUSED`: the partner refused this order (400, 402, 413, 415, 422).
 * - `ACCESS_REFUSED`: the partner refused us, whatever the order (401, 403, 404, 405): a rotated key, a wrong prefix.
 * - `CONFLICT`: 409. Probably the order is there already.
 * - `ANSWERED`: the partner answered with an error that leaves open whether it bought (408, 425, 429, 5xx,
 *   `success: false`, an error page of a proxy).
 * - `UNKNOWN`: anything else: no answer, half an answer, an answer that can't be read.
 */
export type PlacementEvidence =
  'NOT_SENT' | 'PLACED' | 'ORDER_REFUSED' | 'ACCESS_REFUSED' | 'CONFLICT' | 'ANSWERED' | 'UNKNOWN';

/** The evidence that an HTTP status other than 2xx gives by itself; `UNKNOWN` for 1xx and 3xx, which prove nothing. */
export function placementEvidenceOfStatus(status: number): PlacementEvidence {
  if ([400, 402, 413, 415, 422].includes(status)) return 'ORDER_REFUSED';
  if ([401, 403, 404, 405].includes(status)) return 'ACCESS_REFUSED';
  if (status === 409) return 'CONFLICT';
  if ([408, 425, 429].includes(status) || status >= 500) return 'ANSWERED';
  return 'UNKNOWN';
}
