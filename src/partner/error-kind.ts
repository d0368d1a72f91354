export type PartnerOperation = 'listProducts' | 'listOrders' | 'placeOrder' | 'getOrder';

/**
 * What went wrong. Nothing was sent with the first five.
 *
 * - `invalid-argument`: an argument, an option or the API key can't be used.
 * - `unreachable`: no connection came about: DNS, refused, TLS.
 * - `too-late`: the moment of the write came later than `notAfter` allows, or no slot comes in time (`permitInMs`).
 * - `withdrawn`: whoever was to be asked right before the write did not allow it, or the partner closed the connection until then.
 * - `closed`: the client was closed before.
 * - `timeout`: the deadline passed; `sent` says whether the request may have reached the partner by then.
 * - `connection-lost`: the connection broke, or spoke no HTTP, after the request had been handed to it.
 * - `access`: 401 or 403. The key is wrong, or may not do this.
 * - `not-found`: 404. No such order (yet), or a wrong prefix.
 * - `status`: any other status outside 2xx. A redirect is one: it is never followed, the API key must not travel.
 * - `refused`: a 2xx whose envelope says `success: false` or carries an error status (`envelopeStatus`).
 * - `unreadable`: a 2xx that can't be used; `reason` and `problems` say why.
 * - `incomplete`: the pages of a list hold fewer rows than the partner counts, or are not those that were asked for.
 */
export type PartnerErrorKind =
  | 'invalid-argument'
  | 'unreachable'
  | 'too-late'
  | 'withdrawn'
  | 'closed'
  | 'timeout'
  | 'connection-lost'
  | 'access'
  | 'not-found'
  | 'status'
  | 'refused'
  | 'unreadable'
  | 'incomplete';
