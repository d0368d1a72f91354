import { defineSearchAttributeKey } from '@temporalio/common';

/** The checkout's reference of the sale. */
export const REFERENCE_ID = defineSearchAttributeKey('ReferenceId', 'KEYWORD');
/** The partner's id of the order, once there is one. */
export const PARTNER_ORDER_ID = defineSearchAttributeKey('PartnerOrderId', 'KEYWORD');
/** Where the purchase stands, see `PurchaseState`. */
export const PURCHASE_STATE = defineSearchAttributeKey('PurchaseState', 'KEYWORD');

/** `setup` registers these in a namespace, and the worker checks them at its start. */
export const SEARCH_ATTRIBUTES = [REFERENCE_ID, PARTNER_ORDER_ID, PURCHASE_STATE] as const;
