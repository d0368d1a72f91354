// Written out, without Temporal's own function: the library for checkouts may load only Temporal's client package.
const keyword = (name: string) => ({ name, type: 'KEYWORD' }) as const;

/** The checkout's reference of the sale. */
export const REFERENCE_ID = keyword('ReferenceId');
/** The partner's id of the order, once there is one. */
export const PARTNER_ORDER_ID = keyword('PartnerOrderId');
/** The state of the purchase, see `PurchaseState`. */
export const PURCHASE_STATE = keyword('PurchaseState');

/** `setup` registers these in a namespace, and the worker checks them when it starts. */
export const SEARCH_ATTRIBUTES = [REFERENCE_ID, PARTNER_ORDER_ID, PURCHASE_STATE] as const;
