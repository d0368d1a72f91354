/**
 * What the answer to one place-order request proves. The partner promises no idempotency and shows no error format,
 * so an answer is evidence, never a fact about money, until it says plainly that nothing was bought. Which answer proves
 * what is decided in `partner/errors.ts`.
 *
 * - `NOT_SENT`: the request surely never left this process. Sending it again is safe.
 * - `PLACED`: the partner took the order and named its id.
 * - `ORDER_REFUSED`: the partner refused this order.
 * - `ACCESS_REFUSED`: the partner refused us, whatever the order: a rotated key, a wrong prefix.
 * - `CONFLICT`: probably the order is there already.
 * - `ANSWERED`: the partner answered with an error that leaves open whether it bought.
 * - `UNKNOWN`: anything else: no answer, half an answer, an answer that can't be read.
 */
export type PlacementEvidence =
  'NOT_SENT' | 'PLACED' | 'ORDER_REFUSED' | 'ACCESS_REFUSED' | 'CONFLICT' | 'ANSWERED' | 'UNKNOWN';
